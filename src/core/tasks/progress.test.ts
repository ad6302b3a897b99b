import { describe, expect, test } from 'vitest'
import { outcomeOf, shownProgress } from './progress.ts'

describe('how a task stands', () => {
  test.each([
    ['SUCCESS', '100%', '', 'succeeded'],
    ['SUCCESS', '40%', '', 'succeeded'],
    ['SUCCESS', '100%', 'an earlier try', 'succeeded'],
    ['FAILURE', '100%', '', 'failed'],
    ['FAILURE', '10%', 'banned', 'failed'],
    ['IN_PROGRESS', '50%', 'banned', 'failed'],
    ['IN_PROGRESS', '100%', '', 'running'],
    ['MODAL', '0%', '', 'running'],
    ['', '0%', '', 'running'],
    ['', '100%', '', 'succeeded'],
    ['UNKNOWN', '0%', '', 'running'],
  ])('%s at %s with reason "%s" has %s', (status, progress, failReason, outcome) => {
    expect(outcomeOf({ status, progress, failReason })).toBe(outcome)
  })

  test('what runs is never shown as finished, what ended always is', () => {
    expect(shownProgress('running', '100%')).toBe('99%')
    expect(shownProgress('running', '45%')).toBe('45%')
    expect(shownProgress('failed', '45%')).toBe('100%')
    expect(shownProgress('succeeded', '')).toBe('100%')
  })
})
