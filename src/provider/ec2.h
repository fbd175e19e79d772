#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "net/aws/key.h"
#include "net/aws/xml.h"
#include "provider/http.h"
#include "provider/provider.h"

namespace souk::provider {

using net::AwsKey;
using net::Xml;

struct Ec2Settings {
  std::vector<std::string> regions;
  std::vector<std::string> types;
  std::map<std::string, std::string> images;  // Region to image; "" is for all others.
  std::map<std::string, double> on_demand;    // Dollars an hour, by type; from a catalog.
  bool spot = false;
  std::optional<double> max_price;  // Dollars an hour: dearer ones are not started.
  double credits_per_dollar = 1;
  std::string subnet, security_group, key_name;
  std::string endpoint;  // Empty: AWS's own, for each region.
  Duration lifetime = base::hours(4);
  SOUK_FIELDS(Ec2Settings, regions, types, images, on_demand, spot, max_price, credits_per_dollar,
              subnet, security_group, key_name, endpoint, lifetime)
};

// What a type has, and what a spot machine of it costs now in each zone.
struct Ec2Type {
  std::string name;
  std::int32_t vcpus = 0;
  std::int64_t memory_mib = 0;
  std::int32_t gpus = 0;
  std::string gpu;
};
struct SpotPrice {
  std::string type;
  std::string zone;
  double dollars = 0;
  Time at;
};

// EC2's query API with signed requests. A request is a list of parameters; the answer is XML.
class Ec2Api {
 public:
  using Parameters = std::vector<std::pair<std::string, std::string>>;
  Ec2Api(std::string endpoint, AwsKey key) : endpoint_(std::move(endpoint)), key_(std::move(key)) {}

  // Code::unavailable: nobody knows; Code::exhausted: to be tried later; else it was refused.
  Result<Xml> call(const std::string& region, const std::string& action, Parameters parameters);
  // The elements of `list` in all pages.
  Result<std::vector<Xml>> pages(const std::string& region, const std::string& action,
                                 const Parameters& parameters, const std::string& list);
  Result<std::vector<Ec2Type>> types(const std::string& region,
                                     const std::vector<std::string>& names);
  // The latest price in each zone since `since`, and before that the ones that led there.
  Result<std::vector<SpotPrice>> spot_prices(const std::string& region,
                                             const std::vector<std::string>& types, Time since);

 private:
  std::string endpoint_;
  AwsKey key_;
};

// Instances on demand or spot, in the region and of the type that is cheapest per core now (per GPU
// where there are any). docs/decisions/0060.
class Ec2 final : public Provider {
 public:
  Ec2(Ec2Settings settings, MachineName pool, AwsKey key, const base::Clock& clock)
      : settings_(std::move(settings)),
        pool_(std::move(pool)),
        api_(settings_.endpoint, std::move(key)),
        clock_(clock) {}

  Result<std::vector<MachineKind>> kinds() override;
  Result<std::string> start(const StartRequest& request) override;
  Result<std::vector<ListedMachine>> list(const std::vector<std::string>& known) override;
  Result<> stop(const std::string& handle, bool hard) override;
  // An instance that ended is listed as such for about an hour.
  [[nodiscard]] Delays delays() const override { return {base::minutes(5), base::hours(1)}; }

  [[nodiscard]] Ec2Api::Parameters run_instances(const StartRequest& request) const;

 private:
  Result<std::vector<MachineKind>> kinds_in(const std::string& region);

  const Ec2Settings settings_;
  const MachineName pool_;
  Ec2Api api_;
  const base::Clock& clock_;
  std::map<std::pair<std::string, std::string>, Time> none_left_;  // Region and type, until when.
  std::map<std::string, std::vector<Ec2Type>> types_;              // By region: they do not change.
};

// The script that a new instance runs: it ends itself after `lifetime`, whatever happens, installs
// the agent from the market, lends, and ends when the agent does.
std::string user_data(const StartRequest& request, Duration lifetime);

// A shell command that succeeds once the instance is about to be taken back (IMDSv2).
std::string interruption_check(const std::string& metadata_url);
inline constexpr const char* kMetadataUrl = "http://169.254.169.254";

}  // namespace souk::provider
