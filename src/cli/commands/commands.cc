#include "cli/commands/commands.h"

#include <cstdio>
#include <map>
#include <string_view>

#include "cli/shell/parse.h"

namespace souk::cli {

namespace {

struct Group {
  std::string_view title;
  std::vector<Command> commands;
};

}  // namespace

Command root_command() {
  Command root{.name = "souk",
               .summary = "a community market of computers for machine learning",
               .examples = {"offers --where 'class=c4 and free>0'", "run job.yaml", "help run",
                            "help agents"}};
  root.first = {{"souk demo", "see all of it on this computer, in a few minutes"},
                {"souk account create NAME", "open an account on a market: --server URL"},
                {"souk lend", "earn credits with this computer"},
                {"souk plan job.yaml", "what a job would take and cost"},
                {"souk run job.yaml", "run it on other people's machines"},
                {"souk results JOB", "bring its outputs here"}};
  Group groups[] = {
      {"start",
       {demo_command(), account_command(), login_command(), logout_command(), token_command(),
        spend_command(), doctor_command(), help_command(), faq_command(), feedback_command(),
        version_command(), completion_command(), man_command()}},
      {"lend",
       {lend_command(), provide_command(), relay_command(), machine_command(), offer_command(),
        lease_command()}},
      {"borrow",
       {run_command(), plan_command(), jobs_command(), job_command(), logs_command(),
        results_command(), why_command(), cancel_command(), shell_command(), forward_command(),
        services_command(), volume_command(), offers_command(), prices_command(), class_command(),
        events_command(), ledger_command(), examples_command()}},
      {"train",
       {datasets_command(), predict_command(), serve_model_command(), train_sim_command()}},
      {"study",
       {mechanisms_command(), clear_command(), schedule_command(), lab_command(), bench_command()}},
      {"operate",
       {serve_command(), settings_command(), probe_command(), blobs_command(), audit_command(),
        forecasts_command(), journal_command(), hub_command()}}};
  for (auto& group : groups) {
    for (auto& command : group.commands) {
      command.group = group.title;
      root.commands.push_back(std::move(command));
    }
  }
  return root;
}

namespace {

// What people also try, as other tools have it.
std::vector<std::string> usual_spelling(std::vector<std::string> arguments) {
  static const std::map<std::string_view, std::vector<std::string>> usual{
      {"--version", {"version"}}, {"whoami", {"account", "show"}}, {"status", {"jobs"}}};
  if (arguments.empty()) return arguments;
  if (const auto it = usual.find(arguments.front()); it != usual.end()) {
    arguments.erase(arguments.begin());
    arguments.insert(arguments.begin(), it->second.begin(), it->second.end());
  }
  return arguments;
}

}  // namespace

int run(const std::vector<std::string>& given, const Environment& env) {
  const auto err = terminal_of(2, env);
  const auto root = root_command();
  const auto arguments = usual_spelling(given);
  const auto parsed = parse_arguments(root, arguments, terminal_of(1, env));
  if (!parsed) {
    report(parsed.error(), err);
    return static_cast<int>(parsed.error().exit);
  }
  if (parsed->command == nullptr) {
    std::fputs(parsed->help.c_str(), stdout);
    return 0;
  }
  Context context(parsed->globals, env);
  for (const auto& note : parsed->notes) context.note("souk: " + note);
  if (const auto result = parsed->command->run(context); !result) {
    report(result.error(), err);
    return static_cast<int>(result.error().exit);
  }
  return 0;
}

}  // namespace souk::cli
