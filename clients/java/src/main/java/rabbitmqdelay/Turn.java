package rabbitmqdelay;

import com.rabbitmq.client.BlockedListener;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets one thread at a time write to a channel, and none begin while the broker has blocked the connection. */
final class Turn implements BlockedListener {
  private final Connection connection;
  private final Channel channel;
  private final ReentrantLock writing = new ReentrantLock();

  /** Never held during a write: the thread that reads takes it, and must not wait for what the broker does not read. */
  private final ReentrantLock state = new ReentrantLock();

  private final Condition changed = state.newCondition();
  private boolean isBlocked;
  private boolean isClosed;

  Turn(Connection connection, Channel channel) {
    this.connection = connection;
    this.channel = channel;
    channel.addShutdownListener(reason -> change(() -> {}));
    connection.addBlockedListener(this);
  }

  /**
   * Waits until it is the thread's turn, which it must give back.
   *
   * @throws TimeoutException if that is not before the deadline
   * @throws IOException if the publisher is closed
   */
  void take(Deadline deadline) throws InterruptedException, TimeoutException, IOException {
    do {
      awaitUnblocked(deadline);
      if (!writing.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
        throw new TimeoutException("nothing was sent: the messages before were not written in time");
      }
    } while (!isStillGood(deadline));
  }

  void giveBack() {
    writing.unlock();
  }

  /** Ends all waits; nobody gets a turn any more. */
  void close() {
    change(() -> isClosed = true);
    connection.removeBlockedListener(this);
  }

  /** Gives a turn back for which the wait was so long that it is too late, or that the connection is blocked meanwhile. */
  private boolean isStillGood(Deadline deadline) throws TimeoutException {
    boolean isLate = deadline.hasPassed();
    if (!isLate && !mustWait()) return true;
    giveBack();
    if (isLate) throw new TimeoutException("nothing was sent: the timeout passed before");
    return false;
  }

  private void awaitUnblocked(Deadline deadline) throws InterruptedException, TimeoutException, IOException {
    state.lockInterruptibly();
    try {
      while (mustWait()) {
        if (changed.awaitNanos(deadline.remainingNanos()) <= 0 && mustWait()) {
          throw new TimeoutException("nothing was sent: the broker blocks the connection");
        }
      }
      if (isClosed) throw new IOException("the publisher is closed");
    } finally {
      state.unlock();
    }
  }

  /** On a channel that is closed nobody waits: a write fails at once. */
  private boolean mustWait() {
    state.lock();
    try {
      return isBlocked && !isClosed && channel.isOpen();
    } finally {
      state.unlock();
    }
  }

  private void change(Runnable act) {
    state.lock();
    try {
      act.run();
      changed.signalAll();
    } finally {
      state.unlock();
    }
  }

  @Override
  public void handleBlocked(String reason) {
    change(() -> isBlocked = true);
  }

  @Override
  public void handleUnblocked() {
    change(() -> isBlocked = false);
  }
}
