"""Sends tasks: python send.py ORDER COUNTDOWN_SECONDS ...; 0 sends at once."""

import sys
import time

from shop import app, remind

for order, countdown in zip(sys.argv[1::2], sys.argv[2::2]):
    print(f"sending {order} at {time.time():.3f}", flush=True)
    remind.apply_async((order,), countdown=int(countdown) or None)
app.close()
