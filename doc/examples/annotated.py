# SPDX-License-Identifier: Apache-2.0
"""A program that annotates itself: python3 annotated.py

Three rounds of work, in two coroutines. Without nvtxtd, and without libnvtxt, it
prints the same.
"""
import asyncio
import logging

import nvtxt

log = logging.getLogger("example")
log.addHandler(nvtxt.Handler())
log.propagate = False


@nvtxt.annotate(color="#00A000", category="arithmetic", domain="example")
def sum_of_squares(count):
    return sum(n * n for n in range(count))


async def work(name, rounds):
    with nvtxt.range(name):  # its own, whatever other coroutines do meanwhile
        for number in rounds:
            with nvtxt.range("round", payload=number):
                print(sum_of_squares(1000 * number + 1))
                nvtxt.counter("rounds", number)
                await asyncio.sleep(0)


async def main():
    await work("first", [1, 2])
    await work("second", [3])
    log.warning("the last round is done")


asyncio.run(main())
