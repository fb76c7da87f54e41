// SPDX-License-Identifier: Apache-2.0
//
// What a C++ program with nvtx3.hpp does; tests/e2e/test_inject.py says what that is in the store.
#include <nvtx3/nvtx3.hpp>

#include <cstdio>
#include <thread>
#include <unistd.h>

struct my_domain {
    static constexpr char const *name{"my domain"};
};
struct my_category {
    static constexpr char const *name{"my category"};
    static constexpr uint32_t id{11};
};
struct my_message {
    static constexpr char const *message{"registered message"};
};

static void in_a_domain() {
    auto &category = nvtx3::named_category_in<my_domain>::get<my_category>();
    auto &message = nvtx3::registered_string_in<my_domain>::get<my_message>();
    nvtx3::event_attributes attributes{message, category, nvtx3::rgb{255, 128, 0},
                                       nvtx3::payload{int64_t{-42}}};
    nvtx3::scoped_range_in<my_domain> range{attributes};
    nvtx3::mark_in<my_domain>("mark in the domain", nvtx3::payload{3.5});
}

static void function() {
    NVTX3_FUNC_RANGE();
}

int main() {
    std::printf("pid %d\n", getpid());
    in_a_domain();
    function();
    nvtx3::mark(L"wide \u00E9");
    {
        nvtx3::unique_range range{"from thread to thread"};
        std::thread thread{[moved = std::move(range)]() mutable { auto ends_here = std::move(moved); }};
        thread.join();
    }
    return 0;
}
