#pragma once

#include <string>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "base/vocabulary.h"
#include "wire/api/answer.h"
#include "wire/schema.h"

// What people tell the operator, and answers to what they often ask.

namespace souk::wire {

using base::FeedbackCategory;
using base::Time;

struct Feedback {
  base::FeedbackId id;
  std::string account;
  FeedbackCategory category = FeedbackCategory::question;
  std::string text;
  Time at;
  SOUK_FIELDS(Feedback, id, account, category, text, at)
};

struct NewFeedback {
  FeedbackCategory category = FeedbackCategory::question;
  std::string text;
  SOUK_FIELDS(NewFeedback, category, text)
};

struct FaqEntry {
  std::string question;
  std::string answer;
  SOUK_FIELDS(FaqEntry, question, answer)
};

struct Faq {
  std::vector<FaqEntry> items;
  SOUK_FIELDS(Faq, items)
};

SOUK_JSON_ELSEWHERE(Feedback);
SOUK_JSON_ELSEWHERE(NewFeedback);
SOUK_JSON_ELSEWHERE(FaqEntry);
SOUK_JSON_ELSEWHERE(Faq);
SOUK_JSON_ELSEWHERE(Page<Feedback>);

}  // namespace souk::wire
