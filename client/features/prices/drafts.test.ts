import { describe, expect, it } from 'vitest'
import {
  type Batch,
  type Figure,
  differingFigures,
  draftOf,
  fixedBy,
  inputOf,
  isUnreadable,
  type PriceRow,
  withBatch,
  withFigure,
  withLongContext,
} from './drafts.ts'
import { isLongContext, stepsIn, stepsOf } from './long-context.ts'

const unit = 500_000
const price = {
  kind: 'ratio' as const,
  source: 'table' as const,
  modelPrice: null,
  modelRatio: 1.25,
  completionRatio: 4,
  cacheRatio: 0.5,
  cacheWriteRatio: 1.25,
  cacheWrite1hRatio: 2,
  imageRatio: 1,
  audioRatio: 1,
  audioCompletionRatio: 1,
  imageOutputRatio: null,
  longContext: [{ above: 200_000, input: 2, output: 1.5 }],
}
const { longContext } = price
const row: PriceRow = {
  model: 'm',
  price,
  entries: '[2.5]',
  isListed: true,
  isCompletionLocked: false,
  channels: [],
  channelCount: 0,
  isMissing: false,
  retires: null,
  successor: null,
}
const typed = (figure: Figure, value: number | null) =>
  withFigure(new Map(), { row, figure, value, quotaPerUnit: unit })

describe('drafts of prices', () => {
  it('say where they depart from what is stored, also in what moves along', () => {
    const draft = typed('input', 5).get('m')!
    expect(differingFigures(draft, row, unit)).toEqual({
      figures: [
        { figure: 'input', mine: 5, theirs: 2.5 },
        { figure: 'output', mine: 20, theirs: 10 },
        { figure: 'cacheRead', mine: 2.5, theirs: 1.25 },
        { figure: 'cacheWrite', mine: 6.25, theirs: 3.125 },
      ],
      isLongContext: false,
    })
    expect(differingFigures({ ...draftOf(row, unit), longContext: [] }, row, unit)).toEqual({
      figures: [],
      isLongContext: true,
    })
  })

  it('say why a figure is not to be typed', () => {
    const shown = draftOf(row, unit)
    const locked = { ...row, isCompletionLocked: true }
    expect([
      fixedBy(row, shown, 'output'),
      fixedBy(locked, shown, 'output'),
      fixedBy(row, { ...shown, input: null }, 'cacheRead'),
      fixedBy(row, { ...shown, call: 1 }, 'input'),
      fixedBy(row, { ...shown, call: 1 }, 'call'),
    ]).toEqual([undefined, 'name', 'input', 'call', undefined])
  })

  it('show ratios as dollars per million and store them as the same ratios', () => {
    const draft = draftOf(row, unit)
    expect(draft).toEqual({ input: 2.5, output: 10, cacheRead: 1.25, cacheWrite: 3.125, call: null, longContext })
    expect(inputOf('m', draft, unit)).toEqual({
      model: 'm',
      modelRatio: 1.25,
      completionRatio: 4,
      cacheRatio: 0.5,
      cacheWriteRatio: 1.25,
      longContext,
    })
  })

  it('take the prices that follow from the input price along', () => {
    expect(typed('input', 5).get('m')).toEqual({
      input: 5,
      output: 20,
      cacheRead: 2.5,
      cacheWrite: 6.25,
      call: null,
      longContext,
    })
  })

  it('take them along however the input price is typed: by way of a zero, of nothing, or of a lone point', () => {
    const followed = { input: 0.5, output: 2, cacheRead: 0.25, cacheWrite: 0.625 }
    for (const way of [
      [0, 0.5],
      [null, 0, 0.5],
      [Number.NaN, 0.5],
      [null, 5, 0, Number.NaN, 0.5],
    ]) {
      const drafts = way.reduce(
        (all, value) => withFigure(all, { row, figure: 'input', value, quotaPerUnit: unit }),
        typed('call', null),
      )
      expect(drafts.get('m'), way.join()).toMatchObject(followed)
      // Back where it began, nothing is unsaved.
      expect(withFigure(drafts, { row, figure: 'input', value: 2.5, quotaPerUnit: unit }).size).toBe(0)
    }
  })

  it('are none where they say what is stored anyway', () => {
    expect(typed('output', 10).size).toBe(0)
    expect(typed('output', 11).size).toBe(1)
  })

  it('charge by call as soon as a price per call is typed, and take a price away that is emptied', () => {
    const call = typed('call', 0.1).get('m')
    expect(call && inputOf('m', call, unit)).toEqual({ model: 'm', modelPrice: 0.1 })
    const emptied = typed('input', null).get('m')
    expect(emptied && inputOf('m', emptied, unit)).toEqual({ model: 'm', removed: true })
  })

  /** What is saved of a row whose prices stay. */
  const remaining = {
    model: 'm',
    modelRatio: 1.25,
    completionRatio: 4,
    cacheRatio: 0.5,
    cacheWriteRatio: 1.25,
    longContext,
  }

  it('take away the output or cache price that is emptied, and only that', () => {
    for (const [figure, ratio] of [
      ['output', 'completionRatio'],
      ['cacheRead', 'cacheRatio'],
      ['cacheWrite', 'cacheWriteRatio'],
    ] as const) {
      const emptied = typed(figure, null).get('m')
      expect(emptied && inputOf('m', emptied, unit)).toEqual({ ...remaining, [ratio]: null })
    }
  })

  it('of several models keep what a batch does not name, take away what it empties, and skip what cannot be set', () => {
    const set = (batch: Batch, one: PriceRow = row) => {
      const { drafts, refused } = withBatch(new Map(), one, { batch, quotaPerUnit: unit })
      const draft = drafts.get('m')
      return [draft ? inputOf('m', draft, unit) : undefined, refused]
    }
    expect(set({ input: 5 })).toEqual([{ ...remaining, modelRatio: 2.5 }, []])
    expect(set({ input: 5, output: 10, cacheRead: null })).toEqual([
      { ...remaining, modelRatio: 2.5, completionRatio: 2, cacheRatio: null },
      [],
    ])
    expect(set({ output: 5 })).toEqual([{ ...remaining, completionRatio: 2 }, []])
    expect(set({ output: 5 }, { ...row, isCompletionLocked: true })).toEqual([undefined, ['output']])
    expect(set({ output: 5 }, { ...row, price: null })).toEqual([undefined, ['output']])
    expect(set({ input: null })).toEqual([{ model: 'm', removed: true }, []])
    expect(set({ call: 0.1 })).toEqual([{ model: 'm', modelPrice: 0.1 }, []])
    const byCall = { ...row, price: { ...price, modelPrice: 0.1, modelRatio: null } as unknown as PriceRow['price'] }
    expect(set({ output: 5 }, byCall)).toEqual([undefined, ['output']])
    expect(set({ input: 2 }, byCall)).toMatchObject([{ model: 'm', modelRatio: 1 }, []])
    expect(set({ call: null }, byCall)).toEqual([{ model: 'm', removed: true }, []])
  })

  it('keep what is no number apart from an empty field, and leave the other prices as they were', () => {
    for (const value of [Number.NaN, -1]) {
      const wrong = typed('input', value).get('m')
      expect(wrong && isUnreadable(wrong)).toBe(true)
      expect(wrong).toMatchObject({ output: 10, cacheRead: 1.25 })
      expect(typed('call', value).size).toBe(1)
    }
    expect([typed('input', null), typed('call', 0.1)].map((drafts) => isUnreadable(drafts.get('m')!))).toEqual([
      false,
      false,
    ])
  })

  it('keep a price of nothing', () => {
    const free = typed('input', 0).get('m')
    expect(free && inputOf('m', free, unit)).toEqual({ model: 'm', modelRatio: 0, longContext })
  })

  it('write long prompts as the dollars of a price list and store them against the short price', () => {
    const draft = draftOf(row, unit)
    expect(stepsOf(draft)).toEqual([{ above: 200_000, input: 5, output: 15 }])
    expect(stepsIn([{ above: 128_000, input: 3.75, output: 20 }], draft)).toEqual([
      { above: 128_000, input: 1.5, output: 2 },
    ])
    const removed = withLongContext(new Map(), row, { longContext: [], quotaPerUnit: unit }).get('m')
    expect(removed && inputOf('m', removed, unit)).toMatchObject({ longContext: [] })
  })

  it('take only steps that are filled in and ascend', () => {
    const step = (above: number | null) => ({ above, input: 1, output: 1 })
    expect(isLongContext([step(100), step(200)])).toBe(true)
    expect(isLongContext([step(200), step(100)])).toBe(false)
    expect(isLongContext([step(null)])).toBe(false)
  })
})
