import { rabbitmqctl } from "./brokerControl";
import type { BrokerNode } from "./broker";

/**
 * Lets servers of quorum queues without a leader elect one, and gives each its settings again; true if any server lacks the function by
 * which its answers find their way to publishers.
 */
const REPAIR_AND_CHECK = `
  Queues = [Queue || Queue <- rabbit_amqqueue:list(), amqqueue:get_type(Queue) =:= rabbit_quorum_queue],
  Servers = [amqqueue:get_pid(Queue) || Queue <- Queues],
  [ra:trigger_election(Server) || Server <- Servers, element(1, ra:members(Server, 1000)) =/= ok],
  [catch rabbit_quorum_queue:policy_changed(Queue) || Queue <- Queues],
  lists:any(
    fun({Name, _}) ->
      {_, State} = sys:get_state(Name, 30000),
      not lists:any(fun({_, format_ra_event, _}) -> true; (_) -> false end, tuple_to_list(element(2, State)))
    end,
    Servers).`;

/**
 * Repairs a restarted node; true if it needs one more restart. RabbitMQ 3.10 records the server of a new quorum queue some time after the
 * queue itself. If it is killed in between, it starts a new server with some of its settings missing, which elects no leader, confirms
 * nothing, and knows no TTL (seen on 3.10.8, not on 4.3.6; rabbitmq-server issue 10070).
 */
export async function recoverQuorumQueues(node: BrokerNode): Promise<boolean> {
  return (await rabbitmqctl(node, "eval", REPAIR_AND_CHECK)).trim() === "true";
}
