using Xunit;

namespace RabbitMqDelay.Tests;

public class VectorTests
{
    [Fact]
    public void Encodes_as_the_reference_does()
    {
        var compared = 0;
        foreach (var vector in Vectors.Root.GetProperty("encodings").EnumerateArray())
        {
            var network = Vectors.Networks[vector.GetProperty("network").GetInt32()];
            var delay = Vectors.Milliseconds(vector.GetProperty("delayMs").GetDouble());
            var destination = vector.GetProperty("destination").GetString()!;
            var tolerance = vector.GetProperty("tolerance").GetDouble();
            compared++;
            if (vector.TryGetProperty("refused", out var property))
            {
                var error = Assert.ThrowsAny<ArgumentException>(() => network.Encode(delay, destination, tolerance));
                Assert.Equal(property.GetString() == "delayMs" ? "delay" : property.GetString(), error.ParamName);
                Assert.Equal(error.ParamName != "destination", error is ArgumentOutOfRangeException);
                continue;
            }
            var expected = vector.GetProperty("expected");
            var encoded = network.Encode(delay, destination, tolerance);
            Assert.Equal(
                (expected.GetProperty("exchange").GetString(), expected.GetProperty("routingKey").GetString(), expected.GetProperty("level").GetInt32(),
                    Vectors.Milliseconds(expected.GetProperty("delayMs").GetDouble()), expected.GetProperty("hops").GetInt32()),
                (encoded.Exchange, encoded.RoutingKey, encoded.Level, encoded.Delay, encoded.Hops));
            if (tolerance == 0) Assert.Equal(new DelayedRoute(encoded.Exchange, "topic", encoded.RoutingKey, encoded.Delay), network.Route(delay, destination));
        }
        Assert.True(compared > 1900, $"{compared} vectors");
    }

    [Fact]
    public void Routes_intervals_as_the_reference_does()
    {
        foreach (var vector in Vectors.Root.GetProperty("routes").EnumerateArray())
        {
            var delay = Vectors.Milliseconds(vector.GetProperty("delayMs").GetDouble());
            if (vector.TryGetProperty("refused", out _))
            {
                var error = Assert.Throws<ArgumentOutOfRangeException>("delay", () => Vectors.Intervals.Route(delay, "Sales"));
                Assert.Contains("00:00:03, 00:00:05, 00:15:00", error.Message);
                continue;
            }
            Assert.Equal(new DelayedRoute(vector.GetProperty("exchange").GetString()!, "fanout", "Sales", delay), Vectors.Intervals.Route(delay, "Sales"));
        }
    }

    [Fact]
    public void Refuses_the_descriptors_that_the_reference_refuses()
    {
        foreach (var vector in Vectors.Root.GetProperty("refusals").EnumerateArray())
        {
            // Whether names are the preset's own, and whether somebody reads a property, is not checked here.
            if (vector.GetProperty("reason").GetString() is "fixed" or "unknown") continue;
            var json = vector.GetProperty("json").GetString()!;
            var isNetwork = vector.GetProperty("kind").GetString() == "delay-network";
            var error = Assert.Throws<DelayDescriptorException>(() => isNetwork ? (object)DelayNetwork.Parse(json) : RetryIntervals.Parse(json));
            Assert.Equal(vector.GetProperty("refused").GetString()!.Split('[')[0], error.Property.Split('[')[0]);
            Assert.Contains(error.Property.Split('[')[0], error.Message);
        }
    }

    [Fact]
    public void Reads_what_the_reference_wrote()
    {
        for (var index = 0; index < Vectors.Networks.Length; index++)
        {
            var (network, written) = (Vectors.Networks[index], Vectors.Root.GetProperty("networks")[index]);
            Assert.Equal(written.GetProperty("maximumDelayMs").GetDouble(), network.MaximumDelay.TotalMilliseconds);
            Assert.Equal(written.GetProperty("unitMs").GetDouble(), network.Unit.TotalMilliseconds);
            Assert.Equal(written.GetProperty("deliveryExchange").GetString(), network.DeliveryExchange);
            Assert.Equal(written.TryGetProperty("parkingQueue", out var parking) ? parking.GetString() : null, network.ParkingQueue);
            Assert.Equal(written.GetProperty("entryExchanges").EnumerateArray().Select(name => name.GetString()), network.EntryExchanges);
            Assert.Equal(written.TryGetProperty("bindingExchange", out var binding) ? binding.GetString() : network.DeliveryExchange, network.BindingExchange);
            Assert.Equal(written.TryGetProperty("vhost", out var vhost) ? vhost.GetString() : null, network.Vhost);
        }
    }
}
