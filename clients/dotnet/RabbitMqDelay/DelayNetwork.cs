using System.Globalization;

namespace RabbitMqDelay;

/// <summary>
/// A delay network on a broker: any delay up to the longest, in multiples of the unit. Immutable, so safe for concurrent use.
/// </summary>
public sealed partial class DelayNetwork : IDelayRoute
{
    private readonly long unitTicks;
    private readonly long maximumUnits;

    private DelayNetwork(Descriptor descriptor)
    {
        Preset = descriptor.OneOf("preset", "nservicebus", "nservicebus-v1", "celery", "custom");
        QueueType = descriptor.OneOf("queueType", "quorum", "classic");
        Matching = descriptor.OneOf("matching", "exact", "suffix", "enforced");
        var isEnforced = Matching == "enforced";
        var isVersion2 = descriptor.Integer("version", 1, 2) == 2;
        if (isEnforced && Preset is not ("nservicebus" or "nservicebus-v1")) throw descriptor.Refuse("matching", "it is for the presets nservicebus and nservicebus-v1");
        if (isEnforced && !isVersion2) throw descriptor.Refuse("version", "a network whose matching is enforced has version 2");
        Radix = (int)descriptor.Integer("radix", 2, 16);
        if (Radix is not (2 or 4 or 8 or 16)) throw descriptor.Refuse("radix", "it must be one of 2, 4, 8, 16");
        var unitMs = descriptor.Integer("unitMs", 1, Descriptor.LongestTtlMs);
        // A routing key needs two bytes for each level and at least one for the destination.
        Levels = (int)descriptor.Integer("levels", 1, (Names.ShortStringBytes - 1) / 2);
        maximumUnits = CheckShape(descriptor, unitMs);
        unitTicks = unitMs * TimeSpan.TicksPerMillisecond;
        Prefix = descriptor.Entity("prefix");
        DeliveryExchange = descriptor.Entity("deliveryExchange");
        BindingExchange = isEnforced ? $"{Prefix}-exact" : DeliveryExchange;
        if (isVersion2 && descriptor.Text("bindingExchange") != BindingExchange) throw descriptor.Refuse("bindingExchange", $"for this network it must be {BindingExchange}");
        EntryExchanges = Array.AsReadOnly(CheckEntryExchanges(descriptor));
        ParkingExchange = descriptor.OptionalEntity("parkingExchange");
        ParkingQueue = descriptor.OptionalEntity("parkingQueue");
        if (ParkingExchange is null != ParkingQueue is null) throw descriptor.Refuse("parkingQueue", "parkingExchange and parkingQueue go together");
        Vhost = isVersion2 ? descriptor.Text("vhost") : null;
        if (Vhost is "") throw descriptor.Refuse("vhost", "it must be a non-empty text");
    }

    /// <summary>Whose names and arguments the network has: <c>nservicebus</c>, <c>nservicebus-v1</c>, <c>celery</c> or <c>custom</c>.</summary>
    public string Preset { get; }

    /// <summary>What the network's names start with.</summary>
    public string Prefix { get; }

    /// <summary>Base of the digits: 2, 4, 8 or 16.</summary>
    public int Radix { get; }

    /// <summary>Number of digits; a routing key has one word for each.</summary>
    public int Levels { get; }

    /// <summary>The smallest delay but zero; all delays are multiples of it.</summary>
    public TimeSpan Unit => TimeSpan.FromTicks(unitTicks);

    /// <summary>The longest delay.</summary>
    public TimeSpan MaximumDelay => TimeSpan.FromTicks(maximumUnits * unitTicks);

    /// <summary><c>quorum</c> or <c>classic</c>.</summary>
    public string QueueType { get; }

    /// <summary>
    /// <c>exact</c>: endpoints are bound with one <c>*</c> for each level and their name; <c>suffix</c>: with <c>#.</c> and their name;
    /// <c>enforced</c>: exactly, to an exchange that no vendor's client binds to.
    /// </summary>
    public string Matching { get; }

    /// <summary>The exchange of each level; the index is the level.</summary>
    public IReadOnlyList<string> EntryExchanges { get; }

    /// <summary>The topic exchange that messages reach when their delay is over.</summary>
    public string DeliveryExchange { get; }

    /// <summary>The topic exchange that endpoints are bound to: the delivery exchange, unless matching is enforced.</summary>
    public string BindingExchange { get; }

    /// <summary>The exchange that gets what no binding takes; null where the network has none.</summary>
    public string? ParkingExchange { get; }

    /// <summary>The queue that keeps what no binding takes; null where the network has none.</summary>
    public string? ParkingQueue { get; }

    /// <summary>The virtual host that the network is in; null in descriptors that do not say it.</summary>
    public string? Vhost { get; }

    /// <summary>Bytes of UTF-8 that a destination may have: 255 less two for each level.</summary>
    public int MaximumDestinationBytes => Names.ShortStringBytes - (2 * Levels);

    /// <summary>Reads the descriptor that a broker's stack exports.</summary>
    /// <param name="json">JSON of kind <c>delay-network</c>, version 1 or 2.</param>
    /// <exception cref="DelayDescriptorException">Another kind or version, or a part is missing, malformed, or does not fit the shape.</exception>
    public static DelayNetwork Parse(string json) => Descriptor.Read(json, "delay-network", "network", descriptor => new DelayNetwork(descriptor));

    /// <summary>Throws unless the broker has TTLs that long; returns the network's longest delay in units.</summary>
    private long CheckShape(Descriptor descriptor, long unitMs)
    {
        var power = 1L;
        for (var level = 0; level < Levels; level++, power *= Radix)
        {
            if (power * (Radix - 1) * unitMs > Descriptor.LongestTtlMs)
                throw descriptor.Refuse("levels", $"with radix {Radix} and this unitMs at most {level} levels keep a queue's TTL within the broker's limit");
        }
        var maximumDelayMs = (power - 1) * unitMs;
        if (descriptor.Integer("maximumDelayMs", 0, 1L << 53) != maximumDelayMs)
            throw descriptor.Refuse("maximumDelayMs", $"for this shape it must be {maximumDelayMs}");
        return power - 1;
    }

    private string[] CheckEntryExchanges(Descriptor descriptor)
    {
        var names = Enumerable.Range(0, Levels).Select(LevelExchange).ToArray();
        if (!descriptor.Texts("entryExchanges").SequenceEqual(names)) throw descriptor.Refuse("entryExchanges", $"it must be the {Levels} exchanges {names[0]} …");
        var longest = Preset == "custom" ? $"{names[^1]}-{Radix - 1}" : names[^1];
        return Names.WhyNoEntity(longest) is { } reason ? throw descriptor.Refuse("prefix", $"of {longest}, {reason}") : names;
    }

    private string LevelExchange(int level)
    {
        var padded = level.ToString("00", CultureInfo.InvariantCulture);
        return Preset switch
        {
            "celery" => string.Create(CultureInfo.InvariantCulture, $"{Prefix}_{level}"),
            "custom" => $"{Prefix}.level-{padded}",
            _ => $"{Prefix}-level-{padded}",
        };
    }
}
