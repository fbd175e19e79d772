#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "advisor/fit.h"
#include "base/file.h"
#include "cli/plan/plan.h"
#include "cli/shell/human.h"
#include "lab/files/fit_file.h"
#include "wire/json.h"

// Parameters of a profile, fitted to measurements: in the profile's own words, so that they can be
// pasted into one.

namespace souk::cli {
namespace {

struct FittedLoss {
  double gamma1 = 0, gamma2 = 0, gamma3 = 0, gamma5 = 0;
  SOUK_FIELDS(FittedLoss, gamma1, gamma2, gamma3, gamma5)
};

struct FittedHub {
  double bandwidth_mb_s = 0, alpha1 = 0, beta1 = 0;
  SOUK_FIELDS(FittedHub, bandwidth_mb_s, alpha1, beta1)
};

// How good a fit is. A profile may keep it: nothing reads it there.
struct FitError {
  std::string of;  // "loss", or "hub".
  std::size_t points = 0;
  std::optional<std::size_t> runs;
  double rms = 0;  // Of losses; of MB/s.
  SOUK_FIELDS(FitError, of, points, runs, rms)
};

struct Fitted {
  std::optional<double> request_mb_s;
  std::optional<FittedHub> hub;
  std::optional<FittedLoss> loss;
  std::vector<FitError> fit;
  SOUK_FIELDS(Fitted, request_mb_s, hub, loss, fit)
};

// What is beyond six digits, or below a millionth, is noise, and hard to read.
double six_digits(double value) {
  const auto text = fmt::format("{:.6g}", std::abs(value) < 1e-6 ? 0 : value);
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

Result<lab::Measurements> measurements_of(const std::vector<std::string>& files) {
  lab::Measurements out;
  for (const auto& file : files) {
    SOUK_ASSIGN(const auto text, base::read_file(file, "docs/planning.md shows such a file"));
    SOUK_ASSIGN(auto more, lab::parse_measurements(text, file));
    SOUK_TRY(lab::merge(out, std::move(more), file));
  }
  return out;
}

Result<> fit_loss(const lab::Measurements& m, Fitted& out, std::vector<std::string>& remarks) {
  if (m.loss.empty()) return {};
  SOUK_ASSIGN(const auto fit, base::located(advisor::fit_convergence(m.loss), "loss"));
  const auto& g = fit.curve;
  out.loss = {six_digits(g.g1), six_digits(g.g2), six_digits(g.g3), six_digits(g.g5)};
  out.fit.push_back({"loss", m.loss.size(), fit.runs, six_digits(fit.rms)});
  if (!fit.by_batch)
    remarks.emplace_back(
        "gamma2 is 0: what the batch does to the loss takes runs with at least 3 different pairs "
        "of "
        "batch and workers, and two batches");
  if (!m.loss.front().workers)
    remarks.emplace_back("the losses do not tell their workers: the curve takes them for 1");
  return {};
}

Result<> fit_hub(const lab::Measurements& m, Fitted& out) {
  if (m.bandwidth.empty()) return {};
  if (!m.request_mb_s || !m.hub_mb_s)
    return usage(fmt::format("bandwidth was measured, and {} is not told",
                             m.request_mb_s ? "hub_mb_s" : "request_mb_s"),
                 "request_mb_s is what one worker alone reaches, hub_mb_s what the hub has");
  SOUK_ASSIGN(const auto fit,
              base::located(advisor::fit_contention(m.bandwidth, *m.request_mb_s, *m.hub_mb_s),
                            "bandwidth"));
  out.request_mb_s = m.request_mb_s;
  out.hub = {*m.hub_mb_s, six_digits(fit.slope), six_digits(fit.base)};
  out.fit.push_back({"hub", fit.points, std::nullopt, six_digits(fit.rms_mb_s)});
  return {};
}

void show_fit(const Context& c, const Fitted& fitted) {
  using enum Column::Align;
  Table table({{"fit"}, {"points", right}, {"runs", right}, {"error (RMS)", right}});
  for (const auto& f : fitted.fit)
    table.add({f.of == "hub" ? "hub's contention" : "loss curve", std::to_string(f.points),
               f.runs ? std::to_string(*f.runs) : "-",
               fmt::format("{:.3g}{}", f.rms, f.of == "hub" ? " MB/s" : "")});
  c.print(table);
  c.print("For a profile:\n");
  std::vector<std::string> parts;
  const auto add = [&](std::string_view key, std::string json) {
    parts.push_back(fmt::format("\"{}\": {}", key, json));
  };
  if (fitted.request_mb_s) add("request_mb_s", wire::to_json(*fitted.request_mb_s));
  if (fitted.hub) add("hub", wire::to_json(*fitted.hub));
  if (fitted.loss) add("loss", wire::to_json(*fitted.loss));
  c.print(base::join(parts, ",\n") + "\n");
}

}  // namespace

Result<> plan_fit(Context& c, const PlanFlags& f) {
  SOUK_ASSIGN(const auto measured, measurements_of(f.fit));
  Fitted out;
  std::vector<std::string> remarks;
  SOUK_TRY(fit_loss(measured, out, remarks));
  SOUK_TRY(fit_hub(measured, out));
  for (const auto& remark : remarks) c.note(remark);
  if (c.json()) return c.print_json(wire::to_json(out));
  show_fit(c, out);
  return {};
}

}  // namespace souk::cli
