<?php
// Sends x-delay in each type in which php-amqplib writes a whole number, and as text; each body is `TYPE MILLISECONDS`.
require_once getenv('AUTOLOAD');

use PhpAmqpLib\Connection\AMQPStreamConnection;
use PhpAmqpLib\Message\AMQPMessage;
use PhpAmqpLib\Wire\AMQPAbstractCollection;
use PhpAmqpLib\Wire\AMQPTable;

$url = parse_url(getenv('RABBITMQ_URL'));
$connection = new AMQPStreamConnection($url['host'], $url['port'], $url['user'], $url['pass'], substr($url['path'], 1));
$channel = $connection->channel();
$channel->exchange_declare('shop', 'headers', false, true, false);
$channel->confirm_select();

$kinds = [
    'int8' => AMQPAbstractCollection::T_INT_SHORTSHORT,
    'uint8' => AMQPAbstractCollection::T_INT_SHORTSHORT_U,
    'int16' => AMQPAbstractCollection::T_INT_SHORT,
    'uint16' => AMQPAbstractCollection::T_INT_SHORT_U,
    'int32' => AMQPAbstractCollection::T_INT_LONG,
    'uint32' => AMQPAbstractCollection::T_INT_LONG_U,
    'int64' => AMQPAbstractCollection::T_INT_LONGLONG,
];
$tables = [];
foreach ($kinds as $kind => $type) {
    $tables["$kind 100"] = new AMQPTable();
    $tables["$kind 100"]->set('x-delay', 100, $type);
}
// As it writes them by itself.
foreach (['integer' => 300, 'large' => 5_000_000_000, 'text' => '300', 'other' => 301, 'negative' => -300] as $kind => $delay) {
    $tables["$kind $delay"] = new AMQPTable(['x-delay' => $delay]);
}
foreach ($tables as $body => $table) {
    $channel->basic_publish(new AMQPMessage($body, ['application_headers' => $table]), 'shop', 'paid', true);
    $channel->wait_for_pending_acks_returns(10);
    echo "$body\n";
}
$connection->close();
