// SPDX-License-Identifier: Apache-2.0
// SP: classes and official values (NAS-95-020; values as NPB 3.4 has them).
#pragma once

#include <array>

#include "apps/npb/flow/problem.hpp"

namespace nhalf::npb::sp {

inline constexpr std::array problems{
    flow::Problem{'S',
                  12,
                  100,
                  0.015,
                  {{0.02747031545133948, 0.010360746705285417, 0.016235745065095532,
                    0.015840557224455615, 0.03484904060936246}},
                  {{2.7289258557377225e-05, 1.0364446640837285e-05, 1.615479828716647e-05,
                    1.57507049944801e-05, 3.417766618339053e-05}}},
    flow::Problem{'W',
                  36,
                  400,
                  0.0015,
                  {{0.001893253733584, 0.0001717075447775, 0.0002778153350936, 0.0002887475409984,
                    0.003143611161242}},
                  {{7.542088599534e-05, 6.512852253086e-06, 1.049092285688e-05, 1.128838671535e-05,
                    0.0001212845639773}}},
    flow::Problem{'A',
                  64,
                  400,
                  0.0015,
                  {{2.4799822399300195, 1.1276337964368832, 1.5028977888770492, 1.421781621169518,
                    2.129211303513828}},
                  {{0.0001090014029782055, 3.734395176928209e-05, 5.009278540654163e-05,
                    4.767109393952825e-05, 0.00013621613399213}}},
    flow::Problem{
        'B',
        102,
        400,
        0.001,
        {{69.03293579998, 30.95134488084, 41.03336647017, 38.64769009604, 56.43482272596}},
        {{0.009810006190188, 0.00102282790567, 0.001720597911692, 0.001694479428231,
          0.01847456263981}}},
    flow::Problem{
        'C',
        162,
        400,
        0.00067,
        {{588.1691581829, 245.4417603569, 329.3829191851, 308.1924971891, 459.7223799176}},
        {{0.2598120500183, 0.02590888922315, 0.0513288641632, 0.04806073419454, 0.5483377491301}}},
    flow::Problem{
        'D',
        408,
        500,
        0.0003,
        {{10446.96216887, 3204.427762578, 4648.680733032, 4238.923283697, 7588.412036136}},
        {{5.089471423669, 0.5323514855894, 1.187051008971, 1.083734951938, 11.64108338568}}},
};

inline constexpr KernelInfo info{
    .name = "npb-sp",
    .what =
        "scalar-pentadiagonal solver: implicit time steps of a compressible flow, diagonalised "
        "along lines",
    .ranks = RankRule::square,
    .classes = "SWABCD",
    .operations =
        [](char name) {
          return flow::operations_of(problem_of<flow::Problem>(problems, name),
                                     {881.174, -4683.91, 11484.5, -19272.4});
        },
    .memory_bytes =
        [](char name) { return flow::memory_of(problem_of<flow::Problem>(problems, name), 26); },
    .ranks_max =
        [](char name) { return flow::ranks_max_of(problem_of<flow::Problem>(problems, name)); },
};

}  // namespace nhalf::npb::sp
