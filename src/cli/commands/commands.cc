#include "cli/commands/commands.h"

#include <cstdio>

#include "cli/shell/parse.h"

namespace souk::cli {

Command root_command() {
  Command root{.name = "souk",
               .summary = "a community market of computers for machine learning",
               .examples = {"demo", "lend --price market", "offers --where 'class=c4 and free>0'",
                            "run job.yaml"}};
  root.commands = {demo_command(),     serve_command(),      account_command(), login_command(),
                   logout_command(),   lend_command(),       doctor_command(),  machine_command(),
                   offer_command(),    offers_command(),     prices_command(),  class_command(),
                   plan_command(),     run_command(),        jobs_command(),    job_command(),
                   logs_command(),     results_command(),    predict_command(), datasets_command(),
                   examples_command(), train_sim_command(),  bench_command(),   hub_command(),
                   cancel_command(),   why_command(),        lease_command(),   ledger_command(),
                   settings_command(), mechanisms_command(), clear_command(),   schedule_command(),
                   lab_command(),      audit_command(),      events_command(),  feedback_command(),
                   faq_command(),      journal_command(),    version_command()};
  return root;
}

int run(const std::vector<std::string>& arguments, const Environment& env) {
  const auto err = terminal_of(2, env);
  const auto root = root_command();
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
  if (const auto result = parsed->command->run(context); !result) {
    report(result.error(), err);
    return static_cast<int>(result.error().exit);
  }
  return 0;
}

}  // namespace souk::cli
