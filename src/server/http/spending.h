#pragma once

#include <array>
#include <string_view>

// What a token with a spending limit may call, by the ids of the routes, in order of the alphabet.
// Anything else is refused to it: a new route too, until it is written here. Of jobs, leases and
// tokens such a token sees its own only (routes/lookups.h), and `decide` lets it ask for jobs only.

namespace souk::server {

inline constexpr std::array<std::string_view, 38> kSpendingRoutes{
    "callServiceDelete",
    "callServiceGet",
    "callServicePatch",
    "callServicePost",
    "callServicePut",
    "cancelJob",
    "chatCompletions",
    "completions",
    "editJob",
    "getBlob",
    "getBook",
    "getFile",
    "getJob",
    "getLog",
    "getMe",
    "getOffer",
    "getPrices",
    "getSettings",
    "getTraining",
    "getUsage",
    "listClasses",
    "listFiles",
    "listJobLeases",
    "listJobs",
    "listMechanisms",
    "listModels",
    "listOffers",
    "listParts",
    "listSamples",
    "listTokens",
    "listTrainingChoices",
    "missingBlobs",
    "pauseJob",
    "planJob",
    "putBlob",
    "resumeJob",
    "submitJob",
    "whyJob",
};

}  // namespace souk::server
