import { connect, type AddressInfo, type Socket } from 'node:net'
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls'

/** Of this machine under the names `localhost` and 127.0.0.1, signed by itself; it guards nothing. */
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUY9pCn303/iZSmoh
zRWobLd0FG4I+A2AU7jHzU5Ri6qhRANCAARR9eGSNltsLFvjHgGVdvOOG9+yhUsA
1NPjMUB9LqfMmcCvm/IK1ZsrgQ8ZuQvXCD9f9LAZVqIguYbxOs+FzfxK
-----END PRIVATE KEY-----
`
const certificate = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUdBxnDme9v85MI2eprG6rY2/kz98wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA1NTM1MloYDzIxMjYxMDI4
MDU1MzUyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARR9eGSNltsLFvjHgGVdvOOG9+yhUsA1NPjMUB9LqfMmcCvm/IK1Zsr
gQ8ZuQvXCD9f9LAZVqIguYbxOs+FzfxKo28wbTAdBgNVHQ4EFgQUzAwreIscYdBs
JF8cEn3P5q7fNOgwHwYDVR0jBBgwFoAUzAwreIscYdBsJF8cEn3P5q7fNOgwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgKwlz/sbVRcTg//Yi13xF/yVbe5kBuFOpWwdnww/HwikCIQDv
xegSxjCBAxOHYz32dqt6oc25fnNPuVN4PNSeIQ1gyw==
-----END CERTIFICATE-----
`

/** Lets this process believe what is served with the certificate above. */
export const trustTestCertificate = (): void => setDefaultCACertificates([...getCACertificates('default'), certificate])

/** Takes TLS off in front of a port of this machine, as a proxy does. Official libraries open realtime sockets over TLS alone. */
export async function startTlsFront(port: number) {
  const sockets = new Set<Socket>()
  const server = createServer({ key, cert: certificate }, (outer) => {
    const inner = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
