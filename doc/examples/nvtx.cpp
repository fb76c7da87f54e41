// SPDX-License-Identifier: Apache-2.0
//
// A program with NVTX, in C++. It knows nothing of nvtxtd; nvtxt-inject(7):
//
//   c++ nvtx.cpp -o example -ldl     (and -I with the folder that has nvtx3, if need be)
//   nvtxt-send --nvtx -- ./example
#include <cstdint>
#include <iostream>
#include <nvtx3/nvtx3.hpp>

struct example {
    static constexpr char const *name{"example"};
};

struct arithmetic {
    static constexpr char const *name{"arithmetic"};
    static constexpr uint32_t id{1};
};

static unsigned long sum_of_squares(unsigned count) {
    nvtx3::scoped_range_in<example> range{"sum of squares",
                                          nvtx3::named_category_in<example>::get<arithmetic>(),
                                          nvtx3::rgb{0, 160, 0}, nvtx3::payload{count}};
    unsigned long sum = 0;
    for (unsigned i = 1; i <= count; i++) {
        sum += static_cast<unsigned long>(i) * i;
    }
    return sum;
}

int main() {
    nvtx3::unique_range all{"all rounds"}; // any thread may end it
    for (unsigned round = 1; round <= 3; round++) {
        std::cout << sum_of_squares(round * 1000) << '\n';
    }
    nvtx3::mark("the last round is done");
    return 0;
}
