/** The type of a property, in Pulumi's schema of a package. */
export interface TypeSpec {
  type?: string;
  $ref?: string;
  plain?: boolean;
  items?: TypeSpec;
  additionalProperties?: TypeSpec;
  oneOf?: TypeSpec[];
}

/** A property with its type. */
export interface PropertySpec extends TypeSpec {
  description?: string;
  secret?: boolean;
  deprecationMessage?: string;
  /** Names of the property in languages that need another one. */
  language?: Record<string, { name: string }>;
}

/** A type with properties, or an enum. */
export interface ObjectSpec {
  description?: string;
  type?: string;
  properties?: Record<string, PropertySpec>;
  required?: string[];
  enum?: { value: unknown; name?: string; description?: string }[];
}

/** A component: what it takes and what it gives. */
export interface ResourceSpec extends ObjectSpec {
  isComponent?: boolean;
  inputProperties?: Record<string, PropertySpec>;
  requiredInputs?: string[];
}

/** Pulumi's schema of a package, as far as this project writes one. */
export interface PackageSchema {
  name: string;
  version?: string;
  description?: string;
  language?: Record<string, Record<string, unknown>>;
  types?: Record<string, ObjectSpec>;
  resources?: Record<string, ResourceSpec>;
  [key: string]: unknown;
}
