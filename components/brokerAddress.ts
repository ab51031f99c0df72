/** Where a broker's management API is, and who asks. */
export interface BrokerAddressArgs {
  /** e.g. `http://127.0.0.1:15672` or `https://rabbit.example.com`. */
  managementUrl: string;
  /** A user with the tag `management`. */
  username: string;
  /** Its password. */
  password: string;
  /** File with the certificate authority of an `https` address, in PEM. */
  caCertFile?: string;
  /** Whether a certificate that can't be verified is accepted; default false. */
  insecure?: boolean;
}
