/** Whether tests run at full length, as in `make nightly`. */
export const isFullLength = process.env.RABBITMQ_DELAY_TEST_LENGTH === "full";

/** Rounds of a test: a few in `make test` and `make test-clients`, and all of them in `make nightly`. */
export function rounds(few: number, all: number): number {
  return isFullLength ? all : few;
}
