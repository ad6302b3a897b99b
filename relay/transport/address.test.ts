import { describe, expect, it } from 'vitest'
import { isLinkLocal, isMetadataName, isPublic, literalAddress, parseRanges } from './address.ts'

const hostOf = (url: string) => literalAddress(new URL(url).hostname) ?? 'a name'

describe('addresses', () => {
  it('of clouds’ metadata are recognised in every spelling', () => {
    const spellings = [
      'http://169.254.169.254/',
      'http://169.254.169.254./',
      'http://2852039166/',
      'http://0251.0376.0251.0376/',
      'http://0xa9.0xfe.0xa9.0xfe/',
      'http://0xa9fea9fe/',
      'http://169.254.43518/',
      'http://①⑥⑨.254.169.254/',
      'http://[::ffff:169.254.169.254]/',
      'http://[::ffff:a9fe:a9fe]/',
      'http://[64:ff9b::169.254.169.254]/',
      'http://[2002:a9fe:a9fe::1]/',
      'http://[::169.254.169.254]/',
      'http://[::ffff:0:169.254.169.254]/',
      'http://[fe80::1]/',
      'http://[fd00:ec2::254]/',
      'http://100.100.100.200/',
    ]
    for (const url of spellings) expect([url, isLinkLocal(hostOf(url))]).toEqual([url, true])
    for (const name of ['metadata.google.internal', 'METADATA.google.internal.', 'instance-data'])
      expect(isMetadataName(name)).toBe(true)
  })

  it('of private networks and this machine are not link-local', () => {
    for (const address of ['10.0.0.1', '127.0.0.1', '192.168.1.1', '::1', 'fd00::1', '8.8.8.8'])
      expect([address, isLinkLocal(address)]).toEqual([address, false])
  })

  it('are public only on the open internet', () => {
    const refused = [
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '127.0.0.1',
      '168.63.129.16',
      '172.16.0.1',
      '192.168.0.1',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      '::127.0.0.1',
      // As an address writes the same.
      '::7f00:1',
      '4000::1',
      '::ffff:10.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '2001::1',
      'fc00::1',
      'fec0::1',
      'ff02::1',
      'nonsense',
    ]
    for (const address of refused) expect([address, isPublic(address, [])]).toEqual([address, false])
    for (const address of ['1.1.1.1', '2606:4700:4700::1111']) expect(isPublic(address, [])).toBe(true)
  })

  it('in a range the operator names are let through, in mapped form too', () => {
    const allowed = parseRanges(['10.1.0.0/16', '192.168.7.7', 'fd00:1::/32'])
    for (const address of ['10.1.255.1', '::ffff:10.1.2.3', '192.168.7.7', 'fd00:1::5'])
      expect([address, isPublic(address, allowed)]).toEqual([address, true])
    for (const address of ['10.2.0.1', '192.168.7.8', 'fd00:2::5']) expect(isPublic(address, allowed)).toBe(false)
    expect(() => parseRanges(['10.0.0.0/99'])).toThrow('not an address range')
  })
})
