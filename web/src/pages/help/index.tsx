import { SimpleGrid } from '@mantine/core';
import { Page } from '../../parts/page';
import { Cards } from './cards';
import { Faq } from './faq';
import { Feedback } from './feedback';
import { GuideList } from './guide-list';

export default function Help() {
  return (
    <Page title="Help" about="Guides, frequent questions, and a way to reach the operator.">
      <Cards />
      <GuideList />
      <Faq />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Feedback />
      </SimpleGrid>
    </Page>
  );
}
