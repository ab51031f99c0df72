<?php
// Sends a message with each delay, in milliseconds, and prints what arrives: php shop.php 0 5000 60000
require_once getenv('AUTOLOAD') ?: 'vendor/autoload.php';

use PhpAmqpLib\Connection\AMQPStreamConnection;
use PhpAmqpLib\Message\AMQPMessage;
use PhpAmqpLib\Wire\AMQPTable;

$url = parse_url(getenv('RABBITMQ_URL'));
$connection = new AMQPStreamConnection($url['host'], $url['port'], $url['user'], $url['pass'], substr($url['path'], 1));
$channel = $connection->channel();
// before: $channel->exchange_declare('shop', 'x-delayed-message', false, true, false, false, false, new AMQPTable(['x-delayed-type' => 'direct']));
$channel->exchange_declare('shop', 'headers', true); // passive
$channel->queue_declare('bills', false, true, false, false);
// before: $channel->queue_bind('bills', 'shop', 'paid');
$channel->queue_bind('bills', 'shop.delivery', 'paid');
$channel->confirm_select();

foreach (array_slice($argv, 1) as $delayMs) {
    $headers = new AMQPTable(['x-delay' => (int) $delayMs]);
    $properties = ['application_headers' => $headers, 'delivery_mode' => AMQPMessage::DELIVERY_MODE_PERSISTENT];
    $channel->basic_publish(new AMQPMessage((string) nowMs(), $properties), 'shop', 'paid', true);
    $channel->wait_for_pending_acks_returns(5);
}

$channel->basic_consume('bills', '', false, false, false, false, function (AMQPMessage $message) {
    $headers = $message->get('application_headers')->getNativeData();
    $afterMs = nowMs() - (int) $message->getBody();
    echo "{$message->getRoutingKey()} after $afterMs ms, x-delay {$headers['x-delay']}\n";
    $message->ack();
});
while ($channel->is_consuming()) {
    $channel->wait();
}

function nowMs(): int
{
    return (int) floor(microtime(true) * 1000);
}
