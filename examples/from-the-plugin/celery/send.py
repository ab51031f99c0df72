"""Sends a task with each delay, in milliseconds: python send.py 0 5000 60000"""

import sys

from shop import app, now, remind

for delay_ms in map(int, sys.argv[1:]):
    remind.apply_async((now(), delay_ms), exchange="shop", routing_key="paid", headers={"x-delay": delay_ms})
app.close()
