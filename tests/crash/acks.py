# SPDX-License-Identifier: Apache-2.0
"""No acknowledged line is missing, whenever the daemon is killed.

30 rounds with NVTXT_TEST_LONG, else 6: while sessions that write down what was acknowledged send, the
daemon is killed with SIGKILL; what they had seen acknowledged must be in the store as it was left.
"""
import os
import random
import time

import recorder
from recorder import lib

ROUNDS = 30 if os.environ.get("NVTXT_TEST_LONG") else 6


def test_no_acknowledged_line_is_missing():
    seed = random.randrange(2**32)
    print("# seed %d" % seed)
    rng = random.Random(seed)
    with lib.Daemon(config="CommitInterval=10ms\n") as daemon:
        clients = [recorder.Recorder(daemon, ROUNDS * 8000, rng.random()) for _ in range(2)]
        for client in clients:
            client.start()
        killed = 0
        for _ in range(ROUNDS):
            before = [client.acked for client in clients]
            lib.wait_for(lambda: any(client.acked > acked or client.finished for client, acked
                                     in zip(clients, before)), "something is acknowledged")
            time.sleep(rng.uniform(0, 0.1))  # at a random moment
            daemon.kill()
            killed += any(not client.finished for client in clients)
            for client in clients:
                client.check()
            daemon.start()
        for client in clients:
            client.check_all()
        print("# killed %d times under load" % killed)
        lib.equal(daemon.query("SELECT count(*) FROM NVTXT_LOSSES"), [(0,)])


lib.run(globals())
