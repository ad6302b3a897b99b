/** Quota is a whole number of internal units; `quotaPerUnit` of them are one US dollar. */
export const defaultQuotaPerUnit = 500_000

export const quotaToDollars = (quota: number, quotaPerUnit: number): number => quota / quotaPerUnit

export const dollarsToQuota = (dollars: number, quotaPerUnit: number): number => Math.round(dollars * quotaPerUnit)

/** `$1.23`, or the bare units when currency display is off. */
export function formatQuota(
  quota: number,
  display: { quotaPerUnit: number; inCurrency: boolean; digits?: number },
): string {
  if (!display.inCurrency) return String(quota)
  const dollars = quotaToDollars(Math.abs(quota), display.quotaPerUnit).toFixed(display.digits ?? 2)
  return `${quota < 0 ? '-' : ''}$${dollars}`
}
