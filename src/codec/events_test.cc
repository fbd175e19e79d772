#include "codec/events.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "codec/binary.h"
#include "codec/snapshot.h"
#include "codec/testing/busy_market.h"
#include "codec/testing/filled.h"
#include "codec/testing/first_version.h"
#include "market/testing/checked_run.h"
#include "market/testing/history.h"

namespace souk::codec {
namespace {

using base::Bytes;
using namespace market;

template <class E>
std::uint8_t kind() {
  return static_cast<std::uint8_t>(Event(E{}).index());
}

// One event as it lies in the journal.
Bytes raw(std::uint8_t kind, std::uint8_t version, std::string_view fields, std::int64_t time = 5) {
  Bytes out;
  Writer writer(out);
  writer.byte(kind);
  writer.byte(version);
  writer.signed_number(time);
  writer.number(fields.size());
  writer.raw(fields);
  return out;
}

template <class E>
Bytes fields_of_event(const E& event) {
  Bytes out;
  Writer(out).put(event);
  return out;
}

std::string error_of(const Bytes& bytes, std::span<const Upcast> known = upcasts()) {
  const auto result = read_events(bytes, 42, [](Time, const Event&) {}, known);
  return result ? "" : result.error().message;
}

Event only_event(const Bytes& bytes, std::span<const Upcast> known = upcasts()) {
  Event out;
  EXPECT_TRUE(read_events(bytes, 1, [&](Time, const Event& e) { out = e; }, known));
  return out;
}

// A batch with every kind of event, from a random history.
Bytes every_kind(std::set<std::string_view>& kinds) {
  market::testing::HistoryMaker maker(2);
  market::testing::CheckedRun run;
  EventWriter writer;
  run.on_event = [&](Time at, const Event& e) {
    maker.observe(e, at);
    if (kinds.insert(kind_of(e)).second || writer.count() < 300) writer.add(at, e);
  };
  for (int i = 0; i < 100'000; ++i) EXPECT_EQ(run.step(maker.next(run.state)), "");
  kinds.insert(kind_of(Answered{}));
  writer.add(run.state.now, Answered{{AccountId(1), "key", 7, 201, "{}", run.state.now}});
  return writer.bytes();
}

TEST(Events, EveryKindComesBackFromItsBytesAsItWas) {
  std::set<std::string_view> kinds;
  const auto bytes = every_kind(kinds);
  EXPECT_EQ(kinds.size(), std::variant_size_v<AnyEvent>);
  EventWriter again;
  ASSERT_TRUE(read_events(bytes, 1, [&](Time at, const Event& e) { again.add(at, e); }));
  EXPECT_TRUE(again.bytes() == bytes);
  EXPECT_EQ(kind_of(SettingsChanged{}), "SettingsChanged");
  EXPECT_EQ(kind_of(Answered{}), "Answered");
  again.clear();
  EXPECT_EQ(again.count(), 0u);
  EXPECT_TRUE(again.bytes().empty());
}

TEST(Events, AnEventFromBeforeAFieldWasAppendedIsReadWithItsDefault) {
  RoundCleared round{
      .slot_class = ClassId(3), .mechanism = "posted", .seed = 9, .supply = 4, .leased = 6};
  auto fields = fields_of_event(round);
  fields.resize(fields.size() - 8);  // `leased` and what was appended since, a byte each.
  const auto back = std::get<RoundCleared>(only_event(raw(kind<RoundCleared>(), 1, fields)));
  EXPECT_EQ(back.mechanism, "posted");
  EXPECT_EQ(back.supply, 4);
  EXPECT_EQ(back.leased, 0);
}

TEST(Events, AnOldVersionIsBroughtUpStepByStep) {
  // Version 1 wrote the job as text, version 2 as a number one too high.
  const std::vector<Upcast> known{
      {kind<JobWarned>(), 2,
       [](Reader& fields) {
         JobWarned e;
         fields.fields(e);
         return fields_of_event(JobWarned{JobId(e.job.value - 1)});
       }},
      {kind<JobWarned>(), 1, [](Reader& fields) {
         const std::string text(fields.raw(fields.left()));
         return fields_of_event(JobWarned{JobId(std::stoull(text) + 1)});
       }}};
  EXPECT_EQ(std::get<JobWarned>(only_event(raw(kind<JobWarned>(), 1, "17"), known)).job, JobId(17));
  EXPECT_EQ(std::get<JobWarned>(only_event(raw(kind<JobWarned>(), 2, "\x12"), known)).job,
            JobId(17));
  EXPECT_EQ(std::get<JobWarned>(only_event(raw(kind<JobWarned>(), 3, "\x11"), known)).job,
            JobId(17));
  EXPECT_EQ(error_of(raw(kind<JobWarned>(), 4, "\x11"), known),
            "event 42: kind 19 version 4 is unknown");
}

// A job of version 1, which had no `pay`.
Bytes job_of_version_1(const std::string& kind_of_job) {
  Bytes fields;
  testing::FirstVersion(fields).put(JobSubmitted{{.id = JobId(7), .kind = kind_of_job}});
  return fields;
}

TEST(Events, AnOldTrainingIsPaidByWorkAndAnyOtherOldJobByTime) {
  const auto pay_of = [](const std::string& kind_of_job) {
    const auto fields = job_of_version_1(kind_of_job);
    return std::get<JobSubmitted>(only_event(raw(kind<JobSubmitted>(), 1, fields))).job.pay;
  };
  EXPECT_EQ(pay_of("train"), Pay::work);
  EXPECT_EQ(pay_of("batch"), Pay::time);
  const auto damaged = job_of_version_1("train").substr(0, 3) + "\xff";
  EXPECT_EQ(error_of(raw(kind<JobSubmitted>(), 1, damaged)), "event 42: its fields cannot be read");
}

TEST(Events, WhatThisProgramCannotReadIsAnErrorThatNamesTheEvent) {
  const auto good = raw(kind<JobWarned>(), 1, "\x05");
  EXPECT_EQ(error_of(good), "");
  EXPECT_EQ(error_of(good + raw(kind<JobWarned>(), 2, "\x05")),
            "event 43: kind 19 version 2 is unknown");
  EXPECT_EQ(error_of(raw(200, 1, "")), "event 42: kind 200 version 1 is unknown");
  EXPECT_EQ(error_of(raw(kind<JobWarned>(), 0, "\x05")), "event 42: its version is 0");
  EXPECT_EQ(error_of(good + good.substr(0, 3)), "event 43: its bytes end too early");
  EXPECT_EQ(error_of(raw(kind<JobWarned>(), 1, "\x05\x05")), "event 42: its fields cannot be read");
  EXPECT_EQ(error_of(raw(kind<JobWarned>(), 1, "\x85")), "event 42: its fields cannot be read");
  const auto far = raw(kind<JobWarned>(), 1, "\x05", std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(error_of(far + far), "event 43: its time is absurd");
}

TEST(Events, EveryFieldOfEveryKindComesBackAsItWas) {
  const auto events = testing::filled_events();
  for (const auto& event : events) {
    EventWriter writer;
    writer.add(Time(9), event);
    const auto back = only_event(writer.bytes());
    ASSERT_EQ(back.index(), event.index());
    std::visit(
        [&]<class E>(const E& e) {
          EXPECT_EQ(fields_of_event(std::get<E>(back)), fields_of_event(e)) << kind_of(event);
        },
        event);
  }
}

TEST(Events, AJournalBegunInTheFirstLayoutAndContinuedInTheNextIsOneHistory) {
  const testing::BusyMarket market;
  const auto& events = market.events;
  for (const auto part : {events.size() / 3, events.size() / 2, events.size()}) {
    State state;
    const auto replay = [&](const Bytes& batch) {
      const auto read = read_events(batch, state.events + 1, [&](Time at, const Event& event) {
        market::apply(state, at, event);
      });
      EXPECT_TRUE(read) << read.error().message;
    };
    replay(testing::first_version({events.begin(), events.begin() + static_cast<long>(part)}));
    EventWriter writer;
    for (auto i = part; i < events.size(); ++i) writer.add(events[i].first, events[i].second);
    replay(writer.bytes());
    EXPECT_TRUE(encode_state(state) == encode_state(market.state)) << part;
  }
}

TEST(Events, FieldsOfANewerProgramAreSkippedInANewEventAndRefusedInAnOldOne) {
  EXPECT_EQ(error_of(raw(kind<JobWarned>(), 0x81, "\x05\x07")), "");
  EXPECT_EQ(error_of(raw(kind<JobWarned>(), 1, "\x05\x07")), "event 42: its fields cannot be read");
}

// What was read before the first error, written again, must read as the same: a damaged event is
// refused or is a value like any other, never half of one.
void expect_error_or_events(const Bytes& bytes, int& refused) {
  EventWriter writer;
  std::uint32_t read = 0;
  const auto result = read_events(bytes, 1, [&](Time at, const Event& e) {
    writer.add(at, e);
    ++read;
  });
  if (!result) {
    ++refused;
    EXPECT_EQ(result.error().code, base::Code::damaged);
    EXPECT_TRUE(result.error().message.starts_with(fmt::format("event {}: ", read + 1)))
        << result.error().message;
  }
  EventWriter again;
  const auto second =
      read_events(writer.bytes(), 1, [&](Time at, const Event& e) { again.add(at, e); });
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(again.count(), read);
  EXPECT_TRUE(again.bytes() == writer.bytes());
}

TEST(Events, DamagedBytesAreAnErrorThatNamesTheEventOrEventsLikeAnyOther) {
  std::set<std::string_view> kinds;
  const testing::BusyMarket market;
  base::Random random(4);
  int refused = 0;
  for (const auto& whole : {every_kind(kinds), testing::first_version(market.events)}) {
    for (int i = 0; i < 1'500; ++i) {
      auto bytes = whole;
      for (auto flips = 1 + random.below(6); flips > 0; --flips)
        bytes[random.below(bytes.size())] = static_cast<char>(random.next());
      if (random.chance(3)) bytes.resize(random.below(bytes.size()));
      expect_error_or_events(bytes, refused);
    }
  }
  EXPECT_GT(refused, 1'500);
  for (int i = 0; i < 3'000; ++i) {
    Bytes noise(random.below(200), '\0');
    for (auto& c : noise) c = static_cast<char>(random.next());
    expect_error_or_events(noise, refused);
  }
}

}  // namespace
}  // namespace souk::codec
