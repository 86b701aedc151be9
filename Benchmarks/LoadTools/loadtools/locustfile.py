"""The user of Locust: GET / of the host. COMPARE_RATE: requests per second of each user; 0: without pauses."""

import os

from locust import FastHttpUser, constant, constant_throughput, task

RATE = float(os.environ.get("COMPARE_RATE", "0"))
PATH = os.environ.get("COMPARE_PATH", "/")


class Visitor(FastHttpUser):
    wait_time = constant_throughput(RATE) if RATE else constant(0)

    @task
    def get(self):
        self.client.get(PATH)
