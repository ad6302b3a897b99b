import { Box, Button, HStack, SimpleGrid, Stack } from '@chakra-ui/react'
import { useState } from 'react'
import { Chart } from '../../components/charts/chart.tsx'
import { Meter, Sparkline } from '../../components/charts/sparkline.tsx'
import { DetailPanel } from '../../components/detail-panel.tsx'
import { Facts, Section } from '../../components/facts.tsx'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { Markdown } from '../../components/markdown.tsx'
import { StatTile } from '../../components/stat-tile.tsx'
import { quotaText } from '../../lib/format.ts'
import { useUrlState } from '../../lib/url-state.ts'

const models = ['gpt-4o-mini', 'claude-sonnet-4-5', 'gemini-2.5-pro', 'deepseek-v3', 'qwen3-max']
const series = [...models.map((name) => ({ key: name, name })), { key: 'rest', name: '其他', isRest: true }]
const points = Array.from({ length: 24 }, (_, hour) => ({
  id: String(hour),
  label: `${String(hour).padStart(2, '0')}:00`,
  values: Object.fromEntries(
    series.map((one, index) => [one.key, Math.round(900_000 * (1.2 + Math.sin(hour / 4 + index)) * (6 - index))]),
  ),
}))

const markdown = `## 答复

A list with \`code\`, **bold** and a [link](https://example.com):

- 第一项
- 第二项

\`\`\`ts
const total = quota / 500_000
\`\`\`

| 模型 | 价格 |
| --- | --- |
| gpt-4o | $2.50 |

![remote](https://example.com/pixel.png) <img src=x onerror="alert(1)"> <script>alert(2)</script>`

function FilterSample() {
  const [values, set] = useUrlState(
    { keyword: '', status: '', models: [] as readonly string[], token: '', range: '7d' },
    ['page'],
  )
  return (
    <FilterBar
      query={{ id: 'keyword', placeholder: '搜索名称或密钥' }}
      values={values}
      onChange={set}
      facets={[
        {
          id: 'status',
          label: '状态',
          kind: 'choice',
          choices: [
            { value: '1', label: '已启用' },
            { value: '2', label: '已禁用' },
          ],
        },
        { id: 'models', label: '模型', kind: 'choices', choices: models.map((value) => ({ value, label: value })) },
        { id: 'token', label: '令牌', kind: 'text', placeholder: '令牌名称' },
        { id: 'range', label: '时间', kind: 'range' },
      ]}
    />
  )
}

function PanelSample() {
  const [open, setOpen] = useState<number>()
  return (
    <>
      <Button onClick={() => setOpen(1)}>Open panel</Button>
      <DetailPanel
        openId={open}
        onClose={() => setOpen(undefined)}
        title="req_8f2c01"
        label="Call"
        subtitle="gpt-4o-mini"
        onPrevious={open === 1 ? undefined : () => setOpen((open ?? 1) - 1)}
        onNext={() => setOpen((open ?? 1) + 1)}
      >
        <Stack gap="6">
          <Section title="Summary">
            <Facts
              facts={[
                { label: 'Model', value: 'gpt-4o-mini' },
                { label: 'Tokens', value: '1,204 → 356' },
                { label: 'Cost', value: quotaText(1234, 6) },
              ]}
            />
          </Section>
        </Stack>
      </DetailPanel>
    </>
  )
}

export function DisplaySample() {
  return (
    <Stack gap="6">
      <FilterSample />
      <SimpleGrid columns={{ base: 2, lg: 4 }} gap="3">
        <StatTile label="花费" value="$123.46" change={{ now: 123, before: 100 }} note="上一时段 $100.00" />
        <StatTile label="错误率" value="1.2%" change={{ now: 1.2, before: 1.5, better: 'down' }} />
        <StatTile
          label="调用"
          value="98.2k"
          change={{ now: 98, before: 80, better: 'up' }}
          href="/app/logs/api-usage"
        />
        <StatTile label="缓存占比" value="–" loading />
      </SimpleGrid>
      <SimpleGrid columns={{ base: 1, lg: 2 }} gap="6">
        <Chart kind="bars" title="花费" label="Spend by model" series={series} points={points} unit="money" />
        <Chart kind="lines" title="首字时间" label="First token" series={series.slice(0, 2)} points={points} />
      </SimpleGrid>
      <HStack gap="6">
        <Sparkline label="7 days" values={[3, 5, 2, 8, 9, 4, 7]} />
        <Sparkline label="No calls" values={[0, 0, 0, 0]} />
        <Box w="32">
          <Meter share={0.86} label="86% used" />
        </Box>
        <PanelSample />
      </HStack>
      <Box maxW="prose">
        <Markdown source={markdown} />
      </Box>
    </Stack>
  )
}
