#include "market/round_tally.h"

namespace souk::market {

void tally(Tallies& tallies, const RoundCleared& e) {
  tallies.in_force = e.mechanism;
  if (e.supply == 0 || e.demand == 0) return;
  auto& t = tallies.now();
  ++t.rounds;
  t.traded += e.traded;
  t.supply += e.supply;
  t.demand += e.demand;
  t.leased += e.leased;
  t.pays = add_saturating(t.pays, e.pays.micro);
  t.gets = add_saturating(t.gets, e.gets.micro);
  if (e.price) t.priced(*e.price, e.equilibrium, e.traded);
  if (!e.best) return;
  ++t.measured;
  t.gain = add_saturating(t.gain, e.gain->micro);
  t.best = add_saturating(t.best, e.best->micro);
  t.limits = add_saturating(t.limits, e.limits.micro);
  t.measured_pays = add_saturating(t.measured_pays, e.pays.micro);
  t.measured_gets = add_saturating(t.measured_gets, e.gets.micro);
}

}  // namespace souk::market
