using System.Text.Json;

namespace RabbitMqDelay.Tests;

/// <summary>What the TypeScript packages answer; made by clients/vectors.</summary>
internal static class Vectors
{
    public static JsonElement Root { get; } = JsonDocument.Parse(File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "vectors.json"))).RootElement;

    public static DelayNetwork[] Networks { get; } = Root.GetProperty("networks").EnumerateArray().Select(network => DelayNetwork.Parse(network.GetRawText())).ToArray();

    public static RetryIntervals Intervals { get; } = RetryIntervals.Parse(Root.GetProperty("intervals").GetRawText());

    public static JsonElement Topology(string name) => Root.GetProperty("topologies").GetProperty(name);

    public static string Descriptor(string name) => Topology(name).GetProperty("descriptor").GetRawText();

    public static TimeSpan Milliseconds(double value) => TimeSpan.FromTicks((long)(value * TimeSpan.TicksPerMillisecond));
}
