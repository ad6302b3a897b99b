/** Where the payer's browser goes: by a form that it posts, or by an address. */
export type Started =
  | { kind: 'form'; url: string; fields: Record<string, string>; tradeNo: string }
  | { kind: 'redirect'; url: string; tradeNo: string }
