#pragma once

#include <string>
#include <vector>

#include "cli/shell/command.h"

// The table of subcommands. Each group is one file; adding one is a line here and one in
// commands.cc.

namespace souk::cli {

Command serve_command();
Command account_command();
Command login_command();
Command logout_command();
Command machine_command();
Command offer_command();
Command offers_command();
Command prices_command();
Command plan_command();
Command class_command();
Command mechanisms_command();
Command clear_command();
Command schedule_command();
Command lab_command();
Command lend_command();
Command provide_command();
Command relay_command();
Command run_command();
Command logs_command();
Command results_command();
Command predict_command();
Command shell_command();
Command forward_command();
Command services_command();
Command serve_model_command();
Command volume_command();
Command datasets_command();
Command examples_command();
Command train_sim_command();
Command bench_command();
Command hub_command();
Command cancel_command();
Command job_command();
Command jobs_command();
Command lease_command();
Command ledger_command();
Command why_command();
Command journal_command();
Command settings_command();
Command probe_command();
Command blobs_command();
Command audit_command();
Command forecasts_command();
Command feedback_command();
Command faq_command();
Command events_command();
Command demo_command();
Command doctor_command();
Command version_command();
Command completion_command();
Command man_command();
Command token_command();
Command spend_command();
Command help_command();

// `souk` itself, with everything under it.
Command root_command();

// The whole program: parses, runs, reports. Returns the exit status.
int run(const std::vector<std::string>& arguments, const Environment& env);

}  // namespace souk::cli
