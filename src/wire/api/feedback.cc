#include "wire/api/feedback.h"

namespace souk::wire {

SOUK_JSON_HERE(Feedback);
SOUK_JSON_HERE(NewFeedback);
SOUK_JSON_HERE(FaqEntry);
SOUK_JSON_HERE(Faq);
SOUK_JSON_HERE(Page<Feedback>);

}  // namespace souk::wire
