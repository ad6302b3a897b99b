import { expect, test } from 'vitest'
import { readSubmitReply } from './reply.ts'

test.each(['40100000001', '-40100000001', '1e300', '"x"', 'null'])(
  'a code that cannot be stored, or is none, accepts nothing: %s',
  (code) => {
    const text = `{"code":${code},"description":"no","result":"1"}`
    expect(readSubmitReply({ status: 200, text })).toMatchObject({ code: 0, description: 'no', text })
  },
)
