import { chakra } from '@chakra-ui/react'

const Svg = chakra('svg', { base: { display: 'inline-block', verticalAlign: 'middle', color: 'accent.mark' } })

const width = 72
const height = 20

type SparklineProps = {
  values: readonly number[]
  /** What the line says, for those who do not see it. */
  label: string
}

/** The course of a few numbers, small enough for a table's row. */
export function Sparkline({ values, label }: SparklineProps) {
  const largest = Math.max(...values, 0)
  const step = values.length > 1 ? width / (values.length - 1) : width
  const y = (value: number) => height - 1.5 - (largest === 0 ? 0 : (value / largest) * (height - 3))
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${y(value).toFixed(1)}`)
  return (
    <Svg role="img" aria-label={label} data-tip={label} style={{ width, height }} viewBox={`0 0 ${width} ${height}`}>
      {largest > 0 && (
        <polygon points={`0,${height} ${points.join(' ')} ${width},${height}`} fill="currentColor" opacity="0.12" />
      )}
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.25"
        strokeLinejoin="round"
        opacity={largest === 0 ? 0.35 : 1}
      />
    </Svg>
  )
}

const Track = chakra('span', {
  base: { display: 'block', w: 'full', h: '1', borderRadius: 'full', bg: 'bg.emphasized', overflow: 'hidden' },
})
const Fill = chakra('span', {
  base: { display: 'block', h: 'full', borderRadius: 'full' },
  variants: { tone: { accent: { bg: 'accent.mark' }, warning: { bg: 'warning.mark' }, bad: { bg: 'bad.mark' } } },
})

type MeterProps = {
  /** From 0 to 1. */
  share: number
  label: string
}

/** How much of a cap is used: quiet, then amber from 80 %, red from 95 %. */
export function Meter({ share, label }: MeterProps) {
  const part = Math.min(Math.max(share, 0), 1)
  const tone = part >= 0.95 ? 'bad' : part >= 0.8 ? 'warning' : 'accent'
  return (
    <Track role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(part * 100)}>
      <Fill tone={tone} style={{ width: `${part * 100}%` }} />
    </Track>
  )
}
