import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { withTimeout } from '../../../common/async.ts'
import { HOST_HANDSHAKE_MS } from '../../../common/limits.ts'
import { HOST_VERSION, type HostChannel } from './channel.ts'

/** The maximum size of a message before both sides are authenticated, in bytes. */
export const MAX_HANDSHAKE_BYTES = 1024
/**
 * The maximum size of a message after the handshake, in bytes: the largest frame of an agent (see `parley.maximumFrameSize`) and some more.
 */
const MAX_MESSAGE_BYTES = 513 * 1024 * 1024

/**
 * Authenticates both sides: they prove that they know the secret in the host's entry, which only this user can read, without sending the
 * secret. The window proves it first, so that the host tells a stranger nothing. No other message is sent earlier. Resolves to whether the
 * other side knows the secret; if not, closes the channel.
 */
export async function greetWindow(channel: HostChannel, secret: string): Promise<boolean> {
  const ours = nonce()
  channel.send({ type: 'challenge', version: HOST_VERSION, nonce: ours })
  const proof = await withTimeout(channel.next(), HOST_HANDSHAKE_MS)
  const theirs = proof?.nonce
  const isKnown =
    proof?.type === 'proof' &&
    typeof theirs === 'string' &&
    isEqual(proof.proof, sign(secret, 'window', ours, theirs))
  if (isKnown) channel.send({ type: 'proof', proof: sign(secret, 'host', ours, theirs) })
  return accept(channel, isKnown)
}

/** The window's side of {@link greetWindow}. `version` is the host's version. */
export async function greetHost(
  channel: HostChannel,
  secret: string,
  version = HOST_VERSION,
): Promise<boolean> {
  const challenge = await withTimeout(channel.next(), HOST_HANDSHAKE_MS)
  const theirs = challenge?.nonce
  if (challenge?.type !== 'challenge' || challenge.version !== version || typeof theirs !== 'string')
    return accept(channel, false)
  const ours = nonce()
  channel.send({ type: 'proof', nonce: ours, proof: sign(secret, 'window', theirs, ours, version) })
  const proof = await withTimeout(channel.next(), HOST_HANDSHAKE_MS)
  return accept(
    channel,
    proof?.type === 'proof' && isEqual(proof.proof, sign(secret, 'host', theirs, ours, version)),
  )
}

function accept(channel: HostChannel, isKnown: boolean): boolean {
  if (isKnown) channel.maxBytes = MAX_MESSAGE_BYTES
  else channel.dispose()
  return isKnown
}

function nonce(): string {
  return randomBytes(32).toString('hex')
}

/** Returns the proof of a side. The proof includes the side's name, so that a stranger can't return the other side's own proof. */
function sign(
  secret: string,
  side: 'host' | 'window',
  ofHost: string,
  ofWindow: string,
  version = HOST_VERSION,
): string {
  return createHmac('sha256', secret).update(`${side} ${version} ${ofHost} ${ofWindow}`).digest('hex')
}

function isEqual(given: unknown, expected: string): boolean {
  if (typeof given !== 'string' || given.length !== expected.length) return false
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}
