#pragma once

#include <string>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"
#include "base/vocabulary.h"

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

}  // namespace souk::wire
