import listed from './retirements.json' with { type: 'json' }

/** A model that its vendor takes out of service, by the vendor's own list; which one, and when it was read, stands in the file. */
export type Retirement = {
  model: string
  /** The day from which its vendor refuses it. */
  retires: Date
  successor: string
}

const byModel: ReadonlyMap<string, Retirement> = new Map(
  listed.models.map(({ model, retires, successor }) => [
    model,
    { model, retires: new Date(`${retires}T00:00:00Z`), successor },
  ]),
)

/** Undefined where no end is announced. Vendors sell through others as `vendor/model`. */
export const retirementOf = (model: string): Retirement | undefined =>
  byModel.get(model) ?? byModel.get(model.slice(model.lastIndexOf('/') + 1))
