// Brokers that tests start read the machine's clock, as tests do. Erlang's own clock runs up to 1 % fast while it catches up with the machine's,
// and messages then come early by the test's clock.
process.env.ERL_FLAGS ??= "+c false";

export {};
