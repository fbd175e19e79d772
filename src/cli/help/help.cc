#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "cli/shell/parse.h"
#include "cli/shell/session.h"
#include "server/http/embedded.h"
#include "wire/api/feedback.h"

// Questions and answers: help, faq, feedback.

namespace souk::cli {
namespace {

Result<> list_feedback(Context& c, const Paging& paging) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto body, api->get("/v1/feedback" + query_string(params(paging))));
  return c.show<wire::Page<wire::Feedback>>(body, [&](const auto& page) {
    if (page.items.empty()) return c.print("no feedback yet\n");
    for (const auto& f : page.items)
      c.print(fmt::format("{} {} from {}, {}\n  {}\n", to_string(f.id), to_string(f.category),
                          printable(f.account), relative(f.at, c.now()),
                          wrapped(printable(f.text), 2, text_width(c.out()))));
    show_next(c, page.next);
  });
}

}  // namespace

Command feedback_command() {
  struct Options {
    std::string category;
    std::string text;
    Paging paging;
  };
  auto o = std::make_shared<Options>();
  Command out{.name = "feedback",
              .summary = "tell the operator something, or read what was told",
              .examples = {"feedback idea 'show prices in the console'",
                           "feedback problem 'lease l4 was lost twice'", "feedback list"}};
  out.options = paging_flags(o->paging);
  out.options.insert(
      out.options.begin(),
      {argument("CATEGORY", one_of<base::FeedbackCategory>() + "; or `list`", o->category),
       optional(argument("TEXT", "what you want to say, in quotes", o->text))});
  out.run = [o](Context& c) -> Result<> {
    if (o->category == "list") return list_feedback(c, o->paging);
    if (o->text.empty())
      return usage("`souk feedback` needs a text", "souk feedback idea 'what you want to say'");
    wire::NewFeedback request{.text = o->text};
    SOUK_TRY(read_value(o->category, request.category));
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->post("/v1/feedback", wire::to_json(request)));
    return c.done(body, "thank you: the operator can read it now");
  };
  return out;
}

Command faq_command() {
  Command out{.name = "faq",
              .summary = "questions people ask, with answers",
              .examples = {"faq", "faq --json"}};
  out.run = [](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get("/v1/faq"));
    return c.show<wire::Faq>(body, [&](const auto& faq) {
      for (const auto& entry : faq.items)
        c.print(fmt::format("{}\n  {}\n\n", paint(printable(entry.question), Tone::strong, c.out()),
                            wrapped(printable(entry.answer), 2, text_width(c.out()))));
    });
  };
  return out;
}

Command help_command() {
  auto words = std::make_shared<std::vector<std::string>>();
  Command out{.name = "help",
              .summary = "the help of a command, or a guide: souk help agents",
              .examples = {"help run", "help job submit", "help agents"}};
  out.common = Common::none;
  out.options = {optional(argument("COMMAND", "whose help, or a guide: agents", *words))};
  out.run = [words](Context& c) -> Result<> {
    for (const auto& guide : server::guides())
      if (words->size() == 1 && words->front() == guide.name) {
        c.print_raw(guide.text);
        return {};
      }
    SOUK_ASSIGN(const auto text, help_of(root_command(), *words, c.out()));
    c.print_raw(text);
    return {};
  };
  return out;
}

}  // namespace souk::cli
