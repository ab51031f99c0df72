/** The longest time that Node's timers take, in milliseconds; a longer one fires at once. */
export const LONGEST_TIMER_MS = 2_147_483_647;
