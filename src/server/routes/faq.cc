#include "server/routes/faq.h"

namespace souk::server {

const wire::Faq& faq() {
  static const wire::Faq entries{{
      {"How do I get credits?",
       "Lend a machine, and its leases earn credits for the time they run; or ask the operator of "
       "your market for a grant. Credits cannot be bought, sold or passed on."},
      {"How do I lend a machine?",
       "Run `souk lend` on it: it measures the machine, adds it to the market, offers its slots "
       "and runs what others send, in a sandbox. `--cores`, `--memory` and `--price` set how much "
       "of it you lend and at what price; `souk doctor` says what is missing. To offer a machine "
       "by hand, use `souk machine add` and `souk offer create`; it gets leases only while its "
       "agent reports."},
      {"What is a slot class?",
       "A commodity: c4, for example, is 4 cores and 8 GiB. Slots of one class are traded in one "
       "book. `souk class list` shows them; name what you need and the smallest class that has it "
       "is taken."},
      {"How is the price made?",
       "Every few seconds each class is cleared by its mechanism. With vickrey you pay what the "
       "slots that you use were offered for, or what others who go without would have paid for "
       "them; your own limit and your own further demand never raise it. With k-double all who "
       "trade in a round do so at one price between the last bid and ask that meet; with posted it "
       "is the suggested price. `souk prices` shows recent prices and the suggestion for every "
       "hour of the day."},
      {"What exactly do I pay?",
       "The price fixed when your lease was cleared, for the time your work runs. Preparing a "
       "machine is free. You never pay more than your limit price, nor in all more than your "
       "budget, which is set aside when you submit; what is not used returns."},
      {"My job does not start. Why?",
       "Ask `souk why JOB`: it tells what keeps each group of offers away, and the cheapest single "
       "change that would let the job start."},
      {"What happens when a machine disappears?",
       "Its lender is paid up to the last interval it reported, the job asks for another worker in "
       "the next round, and stays away from that machine for a while."},
      {"I need my machine back. What do I do?",
       "`souk offer pause OFFER --for 2h` gives whoever is on it two minutes of notice and takes "
       "no "
       "new work until then. `souk offer drain` lets present leases finish their terms."},
      {"My budget ran out in the middle. Is my work lost?",
       "You are warned when ten minutes of escrow are left. Then workers leave with notice and the "
       "job pauses; raise its budget with `souk job edit JOB --budget N` and it goes on."},
      {"Who can see my code and data?",
       "A lender with root on the machine can. Use constraints on lenders, regions and providers "
       "for data that may not go everywhere."},
      {"How can I check that nobody prints credits?",
       "`souk ledger` shows all balances and the mint; they sum to zero, always. Operators' grants "
       "are in the audit log."},
  }};
  return entries;
}

}  // namespace souk::server
