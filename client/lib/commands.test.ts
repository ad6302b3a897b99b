import { expect, test } from 'vitest'
import { matchCommands } from './commands.ts'

const command = (title: string, group = 'Pages') => ({ id: title, title, group, run: () => undefined })
const list = [command('API tokens'), command('Usage logs'), command('Logs of tokens'), command('Dark', 'Appearance')]
const titles = (typed: string) => matchCommands(list, typed).map(({ title }) => title)

test('every typed word must occur, in title or group, in any case', () => {
  expect(titles('TOKENS logs')).toEqual(['Logs of tokens'])
  expect(titles('appear')).toEqual(['Dark'])
  expect(titles('nothing')).toEqual([])
})

test('what begins with the words stands first, and nothing typed lists everything', () => {
  expect(titles('logs')).toEqual(['Logs of tokens', 'Usage logs'])
  expect(titles(' ')).toHaveLength(4)
})

test('a command is found by other words for the same thing', () => {
  const create = { ...command('新建令牌', '操作'), keywords: 'new token create api key' }
  expect(matchCommands([...list, create], 'new token')).toEqual([create])
})
