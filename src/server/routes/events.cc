#include "server/http/router.h"
#include "server/routes/long_poll.h"

// What happens, as it happens: a stream of server-sent events, or a long poll.

namespace souk::server {
namespace {

struct EventsRequest {
  Feed::Reader reader;
  std::uint64_t after;
  std::uint64_t newest;  // When it was asked.
  base::Time deadline;   // Of a poll.
};

void stream_events(Feed& feed, const EventsRequest& request, ApiCall& call) {
  auto stream =
      call.reply.stream({.content_type = "text/event-stream",
                         .headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}}});
  feed.subscribe(std::move(stream), request.reader, request.after);
}

void poll_events(Feed& feed, const EventsRequest& request, ApiCallPtr call) {
  feed.poll(request.reader, request.after == 0 ? request.newest : request.after, request.deadline,
            [call = std::move(call)](const wire::Notices& notices) {
              call->reply.send(json_response(wire::to_json(notices)));
            });
}

Result<Continuation> follow_events(Context& c) {
  SOUK_ASSIGN(const auto after, seen_of(c.http(), "after"));
  SOUK_ASSIGN(const auto wait, wait_of(c.http(), base::seconds(30)));
  const auto* token = c.state().find_token(*c.call().credential.token, c.now());
  const EventsRequest request{{c.actor.account, c.is_operator(), token->id},
                              after,
                              c.state().events,
                              c.server().clock.now() + wait};
  const bool poll = c.http().param("wait").has_value() ||
                    c.http().header("Accept").find("application/json") != std::string_view::npos;
  return [&feed = c.server().feed, request, poll](Core::Turn& turn, ApiCallPtr call) {
    turn.after([&feed, request, poll, call = std::move(call)]() mutable {
      if (poll)
        poll_events(feed, request, std::move(call));
      else
        stream_events(feed, request, *call);
    });
  };
}

}  // namespace

void add_event_routes(Routes& routes) {
  auto& events = routes.waiting<wire::Notices>(
      "/v1/events", "getEvents",
      "What happens, as it happens: server-sent events, or with Accept: application/json a long "
      "poll",
      Access::user, &follow_events);
  events.doc.query = {{"after", "string", "The number of the last event seen.", false},
                      {"wait", "string", "Long poll: how long to wait at most, 30s.", false}};
}

}  // namespace souk::server
