import { ConfirmPort, ReturnedMessage, toConfirmPort } from "./confirmPort";

const ports = new WeakMap<object, ConfirmPort>();

/**
 * The port of a channel, one for all that publish over it: each further one would listen to the channel's events again, and Node
 * warns of more than ten listeners.
 * @throws MessageRefusedError for a channel without confirms
 */
export function sharedConfirmPort(channel: unknown): ConfirmPort {
  const known = typeof channel === "object" && channel !== null ? ports.get(channel) : undefined;
  if (known !== undefined) return known;
  const port = listeningOnce(toConfirmPort(channel));
  ports.set(channel as object, port);
  return port;
}

function listeningOnce(port: ConfirmPort): ConfirmPort {
  const onReturn: ((message: ReturnedMessage) => void)[] = [];
  const onClose: (() => void)[] = [];
  port.onReturn((message) => onReturn.forEach((listener) => listener(message)));
  port.onClose(() => onClose.forEach((listener) => listener()));
  return {
    ...port,
    onReturn: (listener) => void onReturn.push(listener),
    onClose: (listener) => void onClose.push(listener),
  };
}
