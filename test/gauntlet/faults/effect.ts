/** What a fault did, beyond its kind. */
export interface Effect {
  /** The queue or endpoint that it hit. */
  subject?: string;
  /** Messages that it took away, as the broker said. */
  taken?: number;
  /** By how much it put a clock ahead, in milliseconds; back where it is below 0. */
  byMs?: number;
  /** When it began, where it had to wait for its turn. */
  at?: number;
}
