using System.Text.Json.Nodes;
using Xunit;

namespace RabbitMqDelay.Tests;

public class DescriptorTests
{
    private static JsonObject Network() => JsonNode.Parse(Vectors.Root.GetProperty("networks")[5].GetRawText())!.AsObject();

    [Theory]
    [InlineData("")]
    [InlineData("{")]
    [InlineData("null")]
    [InlineData("[]")]
    [InlineData("5")]
    [InlineData("\"x\"")]
    [InlineData("""{"kind":"\ud800"}""")]
    [InlineData("""{"\ud800":1}""")]
    [InlineData("""{"kind":"delay-network","version":1,"preset":"\udc00"}""")]
    public void What_is_no_descriptor_is_refused(string json)
    {
        Assert.Throws<DelayDescriptorException>(() => DelayNetwork.Parse(json));
        Assert.Throws<DelayDescriptorException>(() => RetryIntervals.Parse(json));
    }

    [Fact]
    public void Null_is_refused()
    {
        Assert.Throws<ArgumentNullException>("json", () => DelayNetwork.Parse(null!));
        Assert.Throws<ArgumentNullException>("json", () => RetryIntervals.Parse(null!));
    }

    [Fact]
    public void Version_2_tells_the_virtual_host()
    {
        var descriptor = Network();
        (descriptor["version"], descriptor["vhost"]) = (2, "cd-x");
        Assert.Equal("cd-x", DelayNetwork.Parse(descriptor.ToJsonString()).Vhost);
        descriptor["vhost"] = "";
        Assert.Equal("network.vhost", Assert.Throws<DelayDescriptorException>(() => DelayNetwork.Parse(descriptor.ToJsonString())).Property);
    }

    [Fact]
    public void Endpoints_are_bound_to_the_delivery_exchange_unless_matching_is_enforced()
    {
        var descriptor = Network();
        Assert.Equal(DelayNetwork.Parse(descriptor.ToJsonString()).DeliveryExchange, DelayNetwork.Parse(descriptor.ToJsonString()).BindingExchange);
        Assert.Equal(("enforced", "nsb.v2.delay-exact"), (Vectors.Networks[10].Matching, Vectors.Networks[10].BindingExchange));
        Assert.Equal(("enforced", "nsb.delay-exact"), (Vectors.Networks[11].Matching, Vectors.Networks[11].BindingExchange));
    }

    [Fact]
    public void A_number_is_the_same_however_it_is_written()
    {
        var json = Network().ToJsonString().Replace("\"unitMs\":100,", "\"unitMs\":1.0e2,", StringComparison.Ordinal);
        Assert.Equal(TimeSpan.FromMilliseconds(100), DelayNetwork.Parse(json).Unit);
    }

    [Theory]
    [InlineData("1e400")]
    [InlineData("-1e400")]
    [InlineData("1e19")]
    [InlineData("100.5")]
    [InlineData("true")]
    public void A_number_out_of_range_is_refused(string unit)
    {
        var json = Network().ToJsonString().Replace("\"unitMs\":100,", $"\"unitMs\":{unit},", StringComparison.Ordinal);
        Assert.Equal("network.unitMs", Assert.Throws<DelayDescriptorException>(() => DelayNetwork.Parse(json)).Property);
    }

    [Fact]
    public void An_error_shows_the_value_that_it_is_about()
    {
        var json = Vectors.Root.GetProperty("intervals").GetRawText().Replace("[1,", "[1.5,", StringComparison.Ordinal);
        var error = Assert.Throws<DelayDescriptorException>(() => RetryIntervals.Parse(json));
        Assert.Equal("retryIntervals.intervalsMs[0]: 1.5 is not allowed; it must be a whole number from 1 to 315360000000", error.Message);
    }

    [Theory]
    [InlineData("prefix", "\"user:hunter2@host\"", "this text")]
    [InlineData("preset", "\"//u:hunter2@h\"", "this text")]
    [InlineData("preset", "\"https://h/?token=hunter2\"", "this text")]
    [InlineData("preset", "\"hunter2\\n\"", "this text")]
    [InlineData("radix", "\"hunter2\"", "this text")]
    [InlineData("entryExchanges", "\"hunter2\"", "this text")]
    [InlineData("preset", "[\"hunter2\"]", "this list")]
    [InlineData("prefix", "{\"password\":\"hunter2\"}", "this object")]
    [InlineData("prefix", "72", "this number")]
    [InlineData("preset", "\"celary\"", "\"celary\"")]
    [InlineData("levels", "1.5", "1.5")]
    public void An_error_shows_nothing_that_may_be_a_password(string property, string json, string shown)
    {
        var descriptor = Network();
        descriptor[property] = JsonNode.Parse(json);
        var error = Assert.Throws<DelayDescriptorException>(() => DelayNetwork.Parse(descriptor.ToJsonString()));
        Assert.StartsWith($"network.{property}: {shown} is not allowed; ", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_list_cannot_be_changed_by_its_reader() =>
        Assert.Throws<NotSupportedException>(() => ((IList<string>)Vectors.Networks[0].EntryExchanges)[0] = "x");
}
