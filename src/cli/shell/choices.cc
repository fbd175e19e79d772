#include "cli/shell/choices.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/shell/table.h"

namespace souk::cli {
namespace {

std::string lines(const Context& c, std::string_view text) {
  return fmt::format("  {}\n", wrapped(printable(text), 2, text_width(c.out())));
}

std::string heading(std::string_view title) { return fmt::format("\n{}\n\n", title); }

std::string parameter_text(const wire::Parameter& p) {
  auto out = fmt::format("{}: {}", p.name, wire::accepted(p));
  if (p.needed) out += ", needed";
  if (p.default_) out += ", default " + *p.default_;
  if (p.default_words) out += ", default " + *p.default_words;
  return out + ". " + p.meaning;
}

std::string entry(const Context& c, std::string_view name, std::string_view summary,
                  std::string_view properties, const std::vector<wire::Parameter>& parameters) {
  auto out = paint(printable(name), Tone::strong, c.out()) + "\n" + lines(c, summary);
  if (!properties.empty()) out += lines(c, properties);
  for (const auto& p : parameters) out += lines(c, parameter_text(p));
  return out;
}

void show_choices(const Context& c, std::string_view title,
                  const std::vector<wire::Choice>& choices) {
  c.print(heading(title));
  for (const auto& choice : choices)
    c.print(entry(c, choice.name, choice.summary, "", choice.parameters));
}

}  // namespace

void show_mechanisms(const Context& c, const wire::Mechanisms& mechanisms) {
  for (const auto& m : mechanisms.items) {
    auto properties = wire::properties_text(m.properties) + ".";
    if (m.note) properties += " " + *m.note;
    c.print(entry(c, m.name, m.summary, properties, m.parameters));
  }
  c.note("IR: nobody loses by taking part; IC: telling the truth is best");
}

void show_training_choices(const Context& c, const wire::TrainingChoices& choices) {
  c.print(heading("Aggregators (rule:)"));
  for (const auto& a : choices.rules) {
    const auto properties = fmt::format(
        "workers send {}, folded {}{}", a.sends == wire::Sends::delta ? "changes" : "weights",
        a.folding == wire::Folding::each     ? "as they come"
        : a.folding == wire::Folding::buffer ? "in a buffer"
                                             : "in rounds",
        a.robust ? "; robust against a minority of hostile workers" : "");
    c.print(entry(c, a.name, a.summary, properties, a.parameters));
  }
  show_choices(c, "Codecs (codec:)", choices.codecs);
  show_choices(c, "Validators (validators:)", choices.validators);
}

std::string live_mechanisms_text(const wire::Mechanisms& mechanisms) {
  std::vector<std::string> out;
  for (const auto& m : mechanisms.items) {
    if (!m.properties.live) continue;
    std::vector<std::string> names;
    for (const auto& p : m.parameters) names.push_back(p.name);
    out.push_back(names.empty() ? m.name : fmt::format("{} ({})", m.name, base::join(names, ", ")));
  }
  return base::join(out, ", ");
}

}  // namespace souk::cli
