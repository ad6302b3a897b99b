import type { Tone } from '../../components/status.tsx'
import type { PlainText } from '../../i18n/t.ts'
import { text } from '../../i18n/t.ts'

type Words = { words: PlainText; tone: Tone }

/** States of tasks in the order of the filter, by the words of their upstreams. */
export const states: Record<string, Words> = {
  SUCCESS: { words: text('成功'), tone: 'good' },
  IN_PROGRESS: { words: text('执行中'), tone: 'accent' },
  QUEUED: { words: text('排队中'), tone: 'neutral' },
  SUBMITTED: { words: text('已提交'), tone: 'neutral' },
  NOT_START: { words: text('未启动'), tone: 'neutral' },
  MODAL: { words: text('等待补充'), tone: 'warning' },
  FAILURE: { words: text('失败'), tone: 'bad' },
}

/** Without a state it has only just been handed in. */
export const stateOf = (status: string): Words =>
  (Object.hasOwn(states, status) ? states[status] : undefined) ??
  (status === '' ? { words: text('提交中'), tone: 'neutral' } : { words: text('未知'), tone: 'neutral' })

/** What a drawing does, in the order of the filter. */
export const drawingWords: Record<string, PlainText> = {
  IMAGINE: text('绘图'),
  UPSCALE: text('放大'),
  VARIATION: text('变换'),
  HIGH_VARIATION: text('强变换'),
  LOW_VARIATION: text('弱变换'),
  PAN: text('平移'),
  ZOOM: text('变焦'),
  CUSTOM_ZOOM: text('自定义变焦'),
  INPAINT: text('局部重绘'),
  REROLL: text('重新生成'),
  MODAL: text('窗口处理'),
  DESCRIBE: text('图生文'),
  BLEND: text('图混合'),
  SHORTEN: text('缩词'),
  UPLOAD: text('上传图片'),
  SWAP_FACE: text('换脸'),
  VIDEO: text('视频'),
  EDITS: text('编辑图片'),
}

export const musicWords: Record<string, PlainText> = {
  MUSIC: text('生成音乐'),
  LYRICS: text('生成歌词'),
}

/** What the upstream said to the submission. */
export const resultWords: Record<number, PlainText> = {
  1: text('已提交'),
  21: text('等待中'),
  22: text('重复提交'),
  23: text('队列已满'),
  24: text('含敏感词'),
  30: text('渠道繁忙'),
}

export const modeWords: Record<string, PlainText> = {
  fast: text('快速'),
  relax: text('慢速'),
  turbo: text('极速'),
}
