/** The origin of a request. */
export interface Origin {
  requestId: string;
  /** The client's IP address, or `unknown`. */
  address: string;
  /** At most 256 characters (rule 84). */
  userAgent: string | undefined;
}
