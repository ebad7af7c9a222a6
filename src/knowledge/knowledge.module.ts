import { Module } from '@nestjs/common';
import { DriveModule } from './drive/drive.module.js';
import { IndexModule } from './index/index.module.js';
import { UploadsModule } from './uploads/uploads.module.js';
import { WebsiteModule } from './website/website.module.js';

/** The knowledge of agents: websites, drive files and uploads, indexed and searched. */
@Module({ imports: [WebsiteModule, DriveModule, UploadsModule, IndexModule], exports: [IndexModule] })
export class KnowledgeModule {}
