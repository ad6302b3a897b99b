/** What one kind of channel serves: a model, behind a prefix if it has one, in some groups. */
export type Served = { model: string; prefix: string; groups: string[] }
/** The name as a caller writes it. */
export type Listing = { name: string }

/**
 * The names to show for what is served. Behind a prefix a model is listed with it; its bare name is listed beside it only
 * when a channel without a prefix serves it in the viewer's own group.
 */
export function listedNames<Row extends Served>(rows: readonly Row[], viewerGroup: string): (Row & Listing)[] {
  const prefixed = new Set(rows.filter(({ prefix }) => prefix !== '').map(({ model }) => model))
  const bareInOwnGroup = new Set(
    rows.filter(({ prefix, groups }) => prefix === '' && groups.includes(viewerGroup)).map(({ model }) => model),
  )
  return rows
    .filter(({ model, prefix }) => prefix !== '' || !prefixed.has(model) || bareInOwnGroup.has(model))
    .map((row) => ({ ...row, name: row.prefix + row.model }))
}
